#include "commands/cli/roff_text.hpp"

#include <gtest/gtest.h>

namespace sotto::cli {
namespace {

TEST(RoffText, KeepsLettersThatMeanSomethingToTroff) {
    EXPECT_EQ(roff_literal("a\\b --x W^K ~"), "a\\eb \\-\\-x W\\(haK \\(ti");
    EXPECT_EQ(roff_literal("peer-to-peer"), "peer-to-peer");
    EXPECT_EQ(roff_bold("sotto-train 'x'"), "\\fBsotto\\-train \\(aqx\\(aq\\fR");
}

TEST(RoffText, TakesNoLineForARequest) {
    EXPECT_EQ(roff_paragraphs("a file\n.gz\n'quoted'", ".PP"), "a file\n\\&.gz\n\\&'quoted'\n");
}

TEST(RoffText, SeparatesParagraphs) {
    EXPECT_EQ(roff_paragraphs("\none\n\ntwo\n\n", ".IP"), "one\n.IP\ntwo\n");
    EXPECT_EQ(roff_paragraphs("", ".IP"), "");
}

TEST(RoffText, TurnsCodeAndLinksOfMarkdownIntoWords) {
    EXPECT_EQ(roff_paragraphs("`--x` ([the ledger](../ledger.md#y)).", ".PP"),
              "\\fB\\-\\-x\\fR (the ledger (docs/ledger.md)).\n");
    EXPECT_EQ(roff_paragraphs("after [A 2021](https://a.org/b-c)", ".PP"),
              "after A 2021 (https://a.org/b-c)\n");
    EXPECT_EQ(roff_paragraphs("in (0, 1] and [0, 1], a ` alone", ".PP"),
              "in (0, 1] and [0, 1], a \\(ga alone\n");
}

}  // namespace
}  // namespace sotto::cli
