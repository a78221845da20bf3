#include "run/error_line.hpp"

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
    EXPECT_EQ(printed("a\nb\rc\td\x1b[31m\x7f"), "sotto: a?b?c?d?[31m?\n");
    EXPECT_EQ(printed(std::string("a\0b", 3)), "sotto: a?b\n");
    EXPECT_EQ(printed("Erdős–Rényi"), "sotto: Erdős–Rényi\n");
    EXPECT_EQ(printed(""), "sotto: \n");
}

TEST(ErrorLine, HoldsNothingThatIsNotTextWhateverAPeerSays) {
    EXPECT_EQ(printed("a\xff\xc3"), "sotto: a??\n");
    EXPECT_EQ(printed("\xc0\xaf \xed\xa0\x80"), "sotto: ?? ???\n") << "overlong, surrogate";
    EXPECT_EQ(printed("\xf5\x80\x80\x80"), "sotto: ????\n");
    EXPECT_EQ(printed("\xc2\x9b"
                      "2J\xe2\x80\xae"),
              "sotto: ?2J?\n")
        << "C1, right to left";
    EXPECT_EQ(printed("\xf0\x9f\x98\x80"), "sotto: \xf0\x9f\x98\x80\n");
}

}  // namespace
}  // namespace sotto
