#include "core/sealed_memory.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <string>

#include "core/temporary_folder.hpp"

namespace sotto {
namespace {

using Place = SealedMemory::Place;

std::optional<SealedMemory> memory_of(const std::string& content) {
    return SealedMemory::make([&](const SealedMemory::Write& write) {
        return write(content.substr(0, 3)) && write(content.substr(3));
    });
}

TEST(SealedMemory, IsReadByOthersWhereItIs) {
    const auto memory = memory_of("what was read");
    ASSERT_TRUE(memory);
    EXPECT_EQ(memory->bytes(), "what was read");
    const Place place = memory->place();
    const pid_t child = ::fork();
    if (child == 0) {
        ::close(static_cast<int>(place.descriptor));
        const auto same = SealedMemory::open(place);
        ::_exit(same && same->bytes() == "what was read" ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
}

TEST(SealedMemory, OutlivesItsMakerWhereItIsOpen) {
    auto memory = memory_of("content");
    ASSERT_TRUE(memory);
    const Place place = memory->place();
    const auto same = SealedMemory::open(place);
    memory.reset();
    ASSERT_TRUE(same);
    EXPECT_EQ(same->bytes(), "content");
    EXPECT_FALSE(SealedMemory::open(place));
}

TEST(SealedMemory, CanBeChangedByNobody) {
    const auto memory = memory_of("content");
    ASSERT_TRUE(memory);
    const std::string link = fmt::format("/proc/self/fd/{}", memory->place().descriptor);
    const int file = ::open(link.c_str(), O_RDWR | O_CLOEXEC);
    ASSERT_GE(file, 0);
    EXPECT_EQ(::write(file, "other", 5), -1);
    EXPECT_NE(::ftruncate(file, 3), 0);
    EXPECT_EQ(::mmap(nullptr, 7, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0), MAP_FAILED);
    ::close(file);
    EXPECT_EQ(memory->bytes(), "content");
}

TEST(SealedMemory, IsNotMadeIfFillingItFails) {
    EXPECT_FALSE(SealedMemory::make([](const SealedMemory::Write& write) {
        (void)write("a part");
        return false;
    }));
    EXPECT_FALSE(SealedMemory::make([](const SealedMemory::Write&) { return true; })) << "empty";
}

/// Whether another's descriptor counts as sealed memory.
bool opens(int descriptor) { return SealedMemory::open({::getpid(), descriptor}).has_value(); }

TEST(SealedMemory, IsNothingElseThatAPeerMayName) {
    const test::TemporaryFolder folder;
    const std::string path = folder.write("memfd:sotto", "content");
    std::array<int, 2> pipe{};
    ASSERT_EQ(::pipe(pipe.data()), 0);
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC),
              device = ::open("/dev/zero", O_RDONLY | O_CLOEXEC),
              changeable = ::memfd_create("sotto", MFD_CLOEXEC | MFD_ALLOW_SEALING),
              half_sealed = ::memfd_create("sotto", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    for (const int memory : {changeable, half_sealed}) ASSERT_EQ(::write(memory, "content", 7), 7);
    ASSERT_EQ(::fcntl(half_sealed, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW), 0);
    for (const int other : {pipe[0], file, device, changeable, half_sealed}) {
        EXPECT_FALSE(opens(other)) << other;
        ::close(other);
    }
    ::close(pipe[1]);
    EXPECT_FALSE(opens(-1));
    EXPECT_FALSE(SealedMemory::open({-1, 0}));
    EXPECT_FALSE(SealedMemory::open({std::int64_t{1} << 40, 0}));
}

TEST(SealedMemory, OfAnotherUserIsRefused) {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root, to be another user";
    constexpr uid_t another = 65534;
    ASSERT_EQ(::seteuid(another), 0);
    const auto memory = memory_of("content");
    const bool own = memory && SealedMemory::open(memory->place());
    ASSERT_EQ(::seteuid(0), 0);
    ASSERT_TRUE(memory && own);
    EXPECT_FALSE(SealedMemory::open(memory->place()));
}

}  // namespace
}  // namespace sotto
