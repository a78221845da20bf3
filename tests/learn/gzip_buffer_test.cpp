#include "learn/gzip_buffer.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <iterator>
#include <string>

#include "core/temporary_folder.hpp"
#include "core/test_support.hpp"
#include "learn/test_data.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

using test::TemporaryFolder;

using test::contains;
using test::message_of;

/// Bytes that do not compress to nothing; more than one buffer.
std::string sample() {
    std::string bytes;
    for (unsigned i = 0; i < 400'000; ++i) bytes += static_cast<char>((i * i) >> 7);
    return bytes;
}

std::string all_of(GzipBuffer& buffer) {
    return {std::istreambuf_iterator<char>(&buffer), std::istreambuf_iterator<char>()};
}

TEST(GzipBuffer, GivesTheBytesOfPlainAndCompressedFiles) {
    const TemporaryFolder folder;
    for (const std::string& path :
         {folder.write("plain", sample()), folder.write_gzip("packed", sample())}) {
        GzipBuffer buffer(path);
        EXPECT_TRUE(all_of(buffer) == sample()) << path;
        EXPECT_EQ(buffer.position(), 400'000);
    }
}

TEST(GzipBuffer, CountsTheBytesTakenAndNamesWhatIsMissing) {
    const TemporaryFolder folder;
    GzipBuffer buffer(folder.write_gzip("packed", sample()));
    std::string part(300'000, '\0');
    buffer.read(part.data(), part.size(), "header");
    EXPECT_TRUE(part == sample().substr(0, 300'000));
    EXPECT_EQ(buffer.position(), 300'000);
    const std::string message =
        message_of<DataError>([&] { buffer.read(part.data(), 200'000, "table of contents"); });
    EXPECT_TRUE(contains(message, "packed: ends after byte 400000, in its table of contents"));
}

TEST(GzipBuffer, RefusesWhatIsNoWholeFile) {
    const TemporaryFolder folder;
    EXPECT_THROW(GzipBuffer{folder.path("nothing")}, DataError);
    EXPECT_THROW(GzipBuffer{std::filesystem::temp_directory_path().string()}, DataError);
    const std::string path = folder.write_gzip("packed", sample());
    std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
    GzipBuffer cut(path);
    EXPECT_TRUE(
        contains(message_of<DataError>([&] { (void)all_of(cut); }), "damaged or truncated"));
}

}  // namespace
}  // namespace sotto
