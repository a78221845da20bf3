// What the documentation shows is what the program prints, on the data it names.

#include <cstdlib>

#include "page_folder.hpp"
#include "shown_output.hpp"

namespace sotto::test {
namespace {

TEST(Documentation, OfTheAccountantShowsWhatTheProgramPrints) {
    const char* data = std::getenv("SOTTO_DATA_DIR");
    if (data == nullptr || *data == '\0')
        GTEST_SKIP() << "set SOTTO_DATA_DIR to a folder with the graphs of docs/accounting.md";
    const auto blocks = shown_in(content_of(SOTTO_SOURCE_DIR "/docs/accounting.md"));
    ASSERT_GE(blocks.size(), 5U);
    const PageFolder folder;
    for (const Shown& block : blocks) {
        SCOPED_TRACE(block.command);
        const Outcome outcome = folder.run(block.command);
        EXPECT_EQ(outcome.exit_code, 0) << outcome.text();
        EXPECT_EQ(not_printed(block, outcome.out), std::vector<std::string>{}) << outcome.text();
    }
}

TEST(DocumentationOutput, FindsCommandsOfSeveralLinesAndTheirOutput) {
    const auto blocks = shown_in(
        "$ no block\n```\nno command\n```\n\n```\n$ first a\n> b\n> c\nout 1\n> out\n\n$ "
        "second\n```\n"
        "text\n");
    ASSERT_EQ(blocks.size(), 2U);
    EXPECT_EQ(blocks[0].command, "first a\nb\nc");
    EXPECT_EQ(blocks[0].lines, (std::vector<std::string>{"out 1", "> out", ""}));
    EXPECT_EQ(blocks[0].line, 7);
    EXPECT_EQ(blocks[1].command, "second");
    EXPECT_TRUE(blocks[1].lines.empty());
}

TEST(DocumentationOutput, IsTheSameWhenNumbersAreAndTimesAreNot) {
    EXPECT_TRUE(same_line("epsilon  1.00005 (mu 2); 2.72 s", "epsilon 1.0001 (mu 2); 9 s"));
    EXPECT_FALSE(same_line("epsilon 1.0005", "epsilon 1.0001"));
    EXPECT_FALSE(same_line("epsilon 1.0001", "delta 1.0001"));
    EXPECT_FALSE(same_line("epsilon 1", "epsilon 1 1"));
    const Shown shown{"", {"a 1", "", "... more", "b 2"}, 1};
    EXPECT_EQ(not_printed(shown, "c 3\na 1\n"), (std::vector<std::string>{"b 2"}));
}

}  // namespace
}  // namespace sotto::test
