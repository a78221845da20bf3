#include "core/compressed_input.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "core/temporary_folder.hpp"
#include "core/test_support.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

using test::TemporaryFolder;

std::string content_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

std::string all_of(const std::string& path) {
    CompressedInput input(path);
    std::string all;
    std::vector<char> piece(1 << 16);
    while (const std::size_t count = input.read(piece.data(), piece.size(), "byte"))
        all.append(piece.data(), count);
    return all;
}

TEST(CompressedInput, GivesTheContentOfPlainAndCompressedFiles) {
    const TemporaryFolder folder;
    const std::string content = std::string(200000, 'a') + "b";
    EXPECT_TRUE(all_of(folder.write("plain", content)) == content);
    EXPECT_TRUE(all_of(folder.write_gzip("packed", content)) == content);
}

TEST(CompressedInput, ReadsStreamsOneBehindTheOtherAndRefusesWhatIsNone) {
    const TemporaryFolder folder;
    const std::string content = std::string(200000, 'a') + "b";
    const std::string one = content_of(folder.write_gzip("one", content));
    EXPECT_TRUE(all_of(folder.write("two", one + one)) == content + content);
    EXPECT_TRUE(all_of(folder.write("padded", one + std::string(300000, '\0'))) == content);
    for (const std::string& rubbish : {std::string("x"),
                                       std::string("\0x", 2),
                                       std::string("\x1f"),
                                       std::string("-1 1:1\n"),
                                       std::string(300000, '\0') + "x"}) {
        const std::string path = folder.write("rubbish.gz", one + rubbish);
        const std::string message = test::message_of<DataError>([&] { (void)all_of(path); });
        EXPECT_TRUE(test::contains(message, "rubbish.gz, byte "));
        EXPECT_TRUE(test::contains(message, "behind the end of its gzip stream")) << message;
    }
    const std::string cut = folder.write("cut.gz", one + one.substr(0, one.size() / 2));
    EXPECT_TRUE(test::contains(test::message_of<DataError>([&] { (void)all_of(cut); }),
                               "damaged or truncated"));
}

TEST(CompressedInput, KnowsWhatAFileCanHoldAtMost) {
    const TemporaryFolder folder;
    EXPECT_EQ(CompressedInput(folder.write("plain", "1234")).most_bytes(), 4U);
    const CompressedInput packed(folder.write_gzip("packed", "1234"));
    EXPECT_GT(packed.most_bytes(), growth_from_bytes);
    EXPECT_LT(packed.most_bytes(), growth_from_bytes + most_growth * 100);
}

TEST(CompressedInput, TakesWhatGrowsLittleAndRefusesWhatIsMadeToFillMemory) {
    const TemporaryFolder folder;
    const std::string path = folder.path("bomb.gz");
    const gzFile file = ::gzopen(path.c_str(), "wb");
    const std::string zeros(1 << 20, '\0');
    for (int i = 0; i < 60; ++i) ::gzwrite(file, zeros.data(), 1 << 20);
    ::gzclose(file);
    EXPECT_EQ(all_of(path).size(), std::size_t{60} << 20);  // below growth_from_bytes
    const gzFile more = ::gzopen(path.c_str(), "wb");
    for (int i = 0; i < 200; ++i) ::gzwrite(more, zeros.data(), 1 << 20);
    ::gzclose(more);
    EXPECT_TRUE(test::contains(test::message_of<DataError>([&] { (void)all_of(path); }),
                               "at most 128 times and 64 MiB are read"));
}

}  // namespace
}  // namespace sotto
