#include "core/shell_words.hpp"

#include <gtest/gtest.h>

namespace sotto {
namespace {

TEST(ShellWords, AreQuotedWhereAShellWouldChangeThem) {
    EXPECT_EQ(shell_quoted("--data=a9a.gz"), "--data=a9a.gz");
    EXPECT_EQ(shell_quoted(""), "''");
    EXPECT_EQ(shell_quoted("two words"), "'two words'");
    EXPECT_EQ(shell_quoted("it's $HOME"), "'it'\\''s $HOME'");
    EXPECT_EQ(shell_line({"mpirun", "a b", "-n", "2"}), "mpirun 'a b' -n 2");
}

}  // namespace
}  // namespace sotto
