#include "commands/supervise/journal.hpp"

#include <gtest/gtest.h>

#include "core/temporary_folder.hpp"
#include "sotto/core/files.hpp"

namespace sotto::cli {
namespace {

TEST(Journal, KeepsLinesWithTheTime) {
    const test::TemporaryFolder folder;
    const Journal journal(folder.path("restarts.txt"), true);
    EXPECT_FALSE(journal.is_there());
    journal.note("one");
    journal.note("two");
    EXPECT_TRUE(journal.is_there());
    const std::string text = read_file(journal.file());
    // 2026-11-20T12:00:00+0000 one
    constexpr std::size_t time = 24;
    EXPECT_EQ(text.substr(time, 5), " one\n");
    EXPECT_TRUE(text.ends_with(" two\n"));
    EXPECT_EQ(text[10], 'T');
}

}  // namespace
}  // namespace sotto::cli
