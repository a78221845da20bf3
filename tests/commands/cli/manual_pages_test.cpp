#include "commands/cli/manual_pages.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "commands/cli/command.hpp"
#include "commands/cli/exit_codes.hpp"
#include "config/run_fixtures.hpp"
#include "options/written_options.hpp"

namespace sotto::cli {
namespace {

using test::expect_contains;

TEST(ManualPages, AreOneOfTheProgramAndOneACommand) {
    const auto pages = manual_pages(commands());
    ASSERT_EQ(pages.size(), commands().records().size() + 1);
    EXPECT_EQ(pages.front().file, "sotto.1");
    for (const Command& command : commands().records()) {
        EXPECT_NE(std::ranges::find(pages, "sotto-" + command.name + ".1", &ManualPage::file),
                  pages.end());
        expect_contains(pages.front().text, roff_bold("sotto-" + command.name) + "(1)\n");
    }
}

TEST(ManualPages, OfCommandsHaveAllTheirOptionsAnExampleAndADescription) {
    const auto pages = manual_pages(commands());
    for (const Command& command : commands().records()) {
        const std::string& text =
            std::ranges::find(pages, "sotto-" + command.name + ".1", &ManualPage::file)->text;
        for (const WrittenGroup& group : command.options())
            for (const WrittenOption& option : group.options)
                expect_contains(text, "\n.TP\n" + roff_bold(usage_of(option)) + "\n");
        expect_contains(text, ".SH EXAMPLES\n.EX\n" + roff_bold(command.example));
        EXPECT_GT(command.description.size(), 100U) << command.name;
        for (const auto& [file, content] : command.files)
            expect_contains(text, ".TP\n" + roff_bold(file) + "\n");
    }
}

TEST(ManualPages, ExplainEveryExitCode) {
    for (const ManualPage& page : manual_pages(commands()))
        for (const ExitCodeRecord& record : exit_codes()) {
            const std::string meaning = roff_paragraphs(record.meaning, ".IP");
            expect_contains(page.text,
                            ".TP\n" + roff_bold(std::to_string(static_cast<int>(record.code))) +
                                "\n" + meaning.substr(0, meaning.size() - 1) + ".");
        }
}

TEST(ManualPage, SaysWhatIsKnownAboutAnOption) {
    const Registry<Command> table(
        "command",
        {{.name = "first",
          .summary = "do it",
          .example = "sotto first -n 2",
          .description = "Does `it`.",
          .options = [] {
              return std::vector<WrittenGroup>{{"Two words",
                                                {written_option({.name = "some-thing",
                                                                 .help = "a thing",
                                                                 .details = "\nMore.",
                                                                 .positional = true,
                                                                 .beside_run = true},
                                                                OptionKind::value,
                                                                "1 to 5",
                                                                "3")}}};
          }}});
    const std::string text = manual_pages(table).back().text;
    expect_contains(text, "\\fBsotto\\-first\\fR \\- do it\n");
    expect_contains(text, "\\fBsotto first\\fR [SOME-THING] [options]\n");
    expect_contains(text, "Does \\fBit\\fR.\n");
    expect_contains(text,
                    ".TP\n\\fB\\-\\-some\\-thing VALUE\\fR\na thing (values: 1 to 5). A word by "
                    "itself is its value. Default: 3. Can be given with the directory of a run.\n"
                    ".IP\nMore.\n");
}

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
