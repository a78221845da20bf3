#include "core/output.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "core/files.hpp"
#include "core/temporary_folder.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

File open_file(const std::string& path) { return {std::fopen(path.c_str(), "w"), std::fclose}; }

TEST(Output, ArrivesOrIsMissed) {
    const test::TemporaryFolder folder;
    const File good = open_file(folder.path("a"));
    say(good.get(), "{} of {}\n", 2, 3);
    require_written(good.get(), "a");
    EXPECT_EQ(read_file(folder.path("a")), "2 of 3\n");

    for (const std::size_t bytes :
         {std::size_t{1}, std::size_t{100'000}}) {  // of a buffer, and more than it holds
        const File full = open_file("/dev/full");
        ASSERT_TRUE(full);
        say(full.get(), "{}", std::string(bytes, 'x'));
        try {
            require_written(full.get(), "standard output");
            ADD_FAILURE() << bytes;
        } catch (const Error& error) {
            EXPECT_EQ(error.exit_code(), ExitCode::storage) << bytes;
            EXPECT_EQ(std::string(error.what()),
                      "standard output: cannot be written (No space left on device); make room, or "
                      "write to a file elsewhere");
        }
    }
}

TEST(Output, ThatWasLostOnTheWayIsMissedAtTheEnd) {
    const File full = open_file("/dev/full");
    ASSERT_TRUE(full);
    std::setvbuf(full.get(), nullptr, _IONBF, 0);
    say(full.get(), "lost\n");  // nothing is left that could fail again
    EXPECT_THROW(require_written(full.get(), "standard output"), Error);
}

TEST(ShellWords, AreQuotedWhereAShellWouldChangeThem) {
    EXPECT_EQ(shell_quoted("--data=a9a.gz"), "--data=a9a.gz");
    EXPECT_EQ(shell_quoted(""), "''");
    EXPECT_EQ(shell_quoted("two words"), "'two words'");
    EXPECT_EQ(shell_quoted("it's $HOME"), "'it'\\''s $HOME'");
    EXPECT_EQ(shell_line({"mpirun", "a b", "-n", "2"}), "mpirun 'a b' -n 2");
}

std::string printed(const std::string& message) {
    ::testing::internal::CaptureStderr();
    print_error_line(message);
    return ::testing::internal::GetCapturedStderr();
}

TEST(ErrorLine, IsOneLineWhateverTheMessageQuotes) {
    EXPECT_EQ(printed("rounds: 0 is not allowed"), "sotto: rounds: 0 is not allowed\n");
    EXPECT_EQ(printed("a\nb\rc\td\x1b[31m\x7f"), "sotto: a\\nb\\rc\\td\\x1b[31m\\x7f\n");
    EXPECT_EQ(printed(std::string("a\0b", 3)), "sotto: a\\x00b\n");
    EXPECT_EQ(printed("\xef\xbb\xbf+1 \xe2\x80\x8bx"), "sotto: \\u{feff}+1 \\u{200b}x\n");
    EXPECT_EQ(printed("Erdős–Rényi"), "sotto: Erdős–Rényi\n");
    EXPECT_EQ(printed(""), "sotto: \n");
}

TEST(ErrorLine, HoldsNothingThatIsNotTextWhateverAPeerSays) {
    EXPECT_EQ(printed("a\xff\xc3"), "sotto: a\\xff\\xc3\n");
    EXPECT_EQ(printed("\xc0\xaf \xed\xa0\x80"), "sotto: \\xc0\\xaf \\xed\\xa0\\x80\n")
        << "overlong, surrogate";
    EXPECT_EQ(printed("\xf5\x80\x80\x80"), "sotto: \\xf5\\x80\\x80\\x80\n");
    EXPECT_EQ(printed("\xc2\x9b"
                      "2J\xe2\x80\xae"),
              "sotto: \\u{009b}2J\\u{202e}\n")
        << "C1, right to left";
    EXPECT_EQ(printed("\xf0\x9f\x98\x80"), "sotto: \xf0\x9f\x98\x80\n");
}

}  // namespace
}  // namespace sotto
