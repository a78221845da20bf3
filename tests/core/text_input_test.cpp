#include "core/text_input.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "core/files.hpp"
#include "core/temporary_folder.hpp"
#include "core/test_support.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

using test::contains;
using test::message_of;
using test::TemporaryFolder;

std::vector<std::string> lines_of(const std::filesystem::path& path) {
    LineReader reader(path.string());
    std::vector<std::string> lines;
    EXPECT_EQ(reader.line_number(), 0);
    EXPECT_EQ(reader.path(), path.string());
    for (std::string_view line; reader.next(line);) {
        lines.emplace_back(line);
        EXPECT_EQ(reader.line_number(), static_cast<long long>(lines.size()));
    }
    return lines;
}

std::filesystem::path put_compressed(const TemporaryFolder& folder,
                                     const std::string& name,
                                     std::string_view content) {
    const std::filesystem::path path = folder.path(name);
    const gzFile file = gzopen(path.c_str(), "wb");
    EXPECT_EQ(gzwrite(file, content.data(), static_cast<unsigned>(content.size())),
              static_cast<int>(content.size()));
    EXPECT_EQ(gzclose(file), Z_OK);
    return path;
}

using Lines = std::vector<std::string>;

TEST(LineReader, AcceptsEveryEndOfLine) {
    const TemporaryFolder folder;
    EXPECT_EQ(lines_of(folder.write("unix", "a\nb\n")), (Lines{"a", "b"}));
    EXPECT_EQ(lines_of(folder.write("dos", "a\r\nb\r\n")), (Lines{"a", "b"}));
    EXPECT_EQ(lines_of(folder.write("mixed", "a\r\nb\nc\r\n")), (Lines{"a", "b", "c"}));
    EXPECT_EQ(lines_of(folder.write("inside", "a\rb\n")), (Lines{"a\rb"}));
}

TEST(LineReader, LeavesOutTheByteOrderMarkInFrontOfTheFirstLine) {
    const TemporaryFolder folder;
    const std::string mark = "\xEF\xBB\xBF";
    EXPECT_EQ(lines_of(folder.write("marked", mark + "a\r\n" + mark + "b\n")),
              (Lines{"a", mark + "b"}));
    EXPECT_EQ(lines_of(folder.write("only", mark)), (Lines{""}));
    EXPECT_EQ(without_byte_order_mark(mark + mark + "x"), mark + "x");
    EXPECT_EQ(without_byte_order_mark("\xEF\xBB"), "\xEF\xBB");
}

TEST(LineReader, GivesTheLastLineAlsoWithoutItsEnd) {
    const TemporaryFolder folder;
    EXPECT_EQ(lines_of(folder.write("unix", "a\nb")), (Lines{"a", "b"}));
    EXPECT_EQ(lines_of(folder.write("dos", "a\r\nb\r")), (Lines{"a", "b"}));
}

TEST(LineReader, KeepsEmptyLinesAndEndsAfterTheLast) {
    const TemporaryFolder folder;
    EXPECT_EQ(lines_of(folder.write("blank", "\n\na\n\n")), (Lines{"", "", "a", ""}));
    EXPECT_EQ(lines_of(folder.write("empty", "")), Lines{});
    LineReader reader(folder.write("short", "a\n"));
    std::string_view line;
    EXPECT_TRUE(reader.next(line));
    EXPECT_FALSE(reader.next(line));
    EXPECT_FALSE(reader.next(line));
}

TEST(LineReader, ReadsLinesLongerThanAnyBuffer) {
    const TemporaryFolder folder;
    const Lines lines{std::string(300'000, 'x'), "short", std::string(65'536, 'y'), ""};
    EXPECT_EQ(lines_of(folder.write(
                  "long", lines[0] + "\n" + lines[1] + "\r\n" + lines[2] + "\n" + lines[3] + "\n")),
              lines);
}

TEST(LineReader, FindsACarriageReturnThatEndsABuffer) {
    const TemporaryFolder folder;
    const std::string first(65'535, 'x');
    EXPECT_EQ(lines_of(folder.write("edge", first + "\r\nb\n")), (Lines{first, "b"}));
}

TEST(LineReader, ReadsGzipWhateverTheFileIsCalled) {
    const TemporaryFolder folder;
    EXPECT_EQ(lines_of(put_compressed(folder, "data.gz", "a\nb\r\nc")), (Lines{"a", "b", "c"}));
    EXPECT_EQ(lines_of(put_compressed(folder, "data.txt", "a\nb\n")), (Lines{"a", "b"}));
    EXPECT_EQ(lines_of(folder.write("plain.gz", "a\nb\n")), (Lines{"a", "b"}));
}

std::string many_lines() {
    std::string text;
    for (int i = 0; i < 40'000; ++i) text += std::to_string(i * 7919 % 40'009) + "\n";
    return text;
}

TEST(LineReader, RefusesATruncatedGzipStreamWhereverItEnds) {
    const TemporaryFolder folder;
    const std::string whole = read_file(put_compressed(folder, "whole.gz", many_lines()));
    for (const std::size_t size :
         {whole.size() - 1, whole.size() - 8, whole.size() / 2, std::size_t{20}, std::size_t{11}}) {
        const auto path = folder.write("cut.gz", whole.substr(0, size));
        const std::string message = message_of<DataError>([&] { (void)lines_of(path); });
        EXPECT_TRUE(contains(message, path)) << size << " bytes";
        EXPECT_TRUE(contains(message, "damaged or truncated")) << size << " bytes";
    }
}

TEST(LineReader, RefusesADamagedGzipStream) {
    const TemporaryFolder folder;
    std::string bytes = read_file(put_compressed(folder, "whole.gz", many_lines()));
    bytes[bytes.size() - 6] = static_cast<char>(bytes[bytes.size() - 6] ^ 1);  // the checksum
    const auto path = folder.write("damaged.gz", bytes);
    EXPECT_TRUE(
        contains(message_of<DataError>([&] { (void)lines_of(path); }), "damaged or truncated"));
}

TEST(LineReader, RefusesADirectory) {
    const TemporaryFolder folder;
    const std::string message =
        message_of<DataError>([&] { LineReader reader(folder.path().string()); });
    EXPECT_TRUE(contains(message, folder.path().string()));
    EXPECT_TRUE(contains(message, "directory"));
}

TEST(LineReader, RefusesAMissingFileWithPathAndReason) {
    const TemporaryFolder folder;
    const std::string path = folder.path("missing.txt");
    const std::string message = message_of<DataError>([&] { LineReader reader(path); });
    EXPECT_TRUE(contains(message, path));
    EXPECT_TRUE(contains(message, "No such file"));
}

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
