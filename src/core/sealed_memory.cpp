#include "core/sealed_memory.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <string>

#include "core/disk.hpp"

namespace sotto {

namespace {

constexpr const char* sealed_name = "sotto";
constexpr int every_seal = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;

/// Only such links are opened: to open a device or a pipe could do something.
bool leads_to_sealed_memory(const std::string& link) {
    const std::string_view start = "/memfd:sotto";
    std::array<char, 64> target{};
    const ssize_t length = ::readlink(link.c_str(), target.data(), target.size());
    return length > 0 &&
           std::string_view(target.data(), static_cast<std::size_t>(length)).starts_with(start);
}

bool is_sealed(int descriptor) {
    const int seals = ::fcntl(descriptor, F_GET_SEALS);
    return seals >= 0 && (seals & every_seal) == every_seal;
}

}  // namespace

struct SealedMemory::Mapping {
    int descriptor = -1;
    void* start = MAP_FAILED;
    std::size_t size = 0;

    Mapping() = default;
    Mapping(const Mapping&) = delete;
    Mapping& operator=(const Mapping&) = delete;
    ~Mapping() {
        if (start != MAP_FAILED) ::munmap(start, size);
        if (descriptor >= 0) ::close(descriptor);
    }
};

std::optional<SealedMemory> SealedMemory::mapped(int descriptor) {
    const auto mapping = std::make_shared<Mapping>();
    mapping->descriptor = descriptor;
    struct stat status {};
    if (descriptor < 0 || ::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode) ||
        status.st_uid != ::geteuid() || status.st_size <= 0 || !is_sealed(descriptor))
        return std::nullopt;
    mapping->size = static_cast<std::size_t>(status.st_size);
    mapping->start = ::mmap(nullptr, mapping->size, PROT_READ, MAP_SHARED, descriptor, 0);
    if (mapping->start == MAP_FAILED) return std::nullopt;
    SealedMemory memory;
    memory.mapping_ = mapping;
    return memory;
}

std::optional<SealedMemory> SealedMemory::make(const std::function<bool(const Write&)>& fill) {
    const int descriptor = ::memfd_create(sealed_name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (descriptor < 0) return std::nullopt;
    const auto write = [descriptor](std::string_view bytes) {
        return write_all(descriptor, bytes);
    };
    if (!fill(write) || ::fcntl(descriptor, F_ADD_SEALS, every_seal) != 0) {
        ::close(descriptor);
        return std::nullopt;
    }
    return mapped(descriptor);
}

std::optional<SealedMemory> SealedMemory::open(const Place& place) {
    const std::string link = fmt::format("/proc/{}/fd/{}", place.process, place.descriptor);
    if (!leads_to_sealed_memory(link)) return std::nullopt;
    return mapped(::open(link.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
}

SealedMemory::Place SealedMemory::place() const { return {::getpid(), mapping_->descriptor}; }

std::string_view SealedMemory::bytes() const {
    return {static_cast<const char*>(mapping_->start), mapping_->size};
}

}  // namespace sotto
