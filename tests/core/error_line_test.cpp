#include "core/error_line.hpp"

#include <gtest/gtest.h>

#include <string>

namespace sotto {
namespace {

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
