#include "commands/cli/manual_pages.hpp"

#include <algorithm>

#include "commands/cli/command_table.hpp"
#include "commands/cli/exit_codes.hpp"
#include "commands/cli/roff_text.hpp"
#include "config/run_fixtures.hpp"
#include "options/option_usage.hpp"

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
                    "itself is its value. Default: 3. May stand beside the directory of a run.\n"
                    ".IP\nMore.\n");
}

}  // namespace
}  // namespace sotto::cli
