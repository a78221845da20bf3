#include "commands/cli/option_pages.hpp"

#include <algorithm>
#include <filesystem>

#include "commands/cli/command.hpp"
#include "config/run_fixtures.hpp"

namespace sotto::cli {
namespace {

namespace fs = std::filesystem;
using test::expect_contains;

const fs::path docs = SOTTO_SOURCE_DIR "/docs";

TEST(OptionPages, OfTheDocumentationSayWhatTheOptionsSay) {
    std::vector<std::string> files;
    for (const OptionPage& page : option_pages(commands())) {
        files.push_back(page.file);
        const fs::path file = docs / "cli" / page.file;
        EXPECT_TRUE(fs::exists(file) && read_file(file) == page.text)
            << file << " differs from the options' declarations; write the pages again: ninja -C "
            << "build sotto_option_pages && build/sotto_option_pages docs/cli";
    }
    for (const auto& entry : fs::directory_iterator(docs / "cli"))
        EXPECT_NE(std::ranges::find(files, entry.path().filename().string()), files.end())
            << entry.path() << " is the page of no group of options";
}

TEST(OptionPages, AreInTheIndex) {
    const std::string index = read_file(docs / "cli.md");
    for (const OptionPage& page : option_pages(commands()))
        expect_contains(index, "(cli/" + page.file + ")");
}

int one() { return 1; }

std::vector<WrittenGroup> group_of(const std::string& help) {
    return {{"Two words",
             {written_option(
                 {.name = "x", .help = help, .details = "\nMore about it.", .beside_run = true},
                 OptionKind::value,
                 "1 | 2",
                 "<7>")}}};
}

TEST(OptionPage, HasAllThatIsKnownAboutAnOption) {
    const auto run = [](const std::vector<std::string>&) { return one(); };
    const Registry<Command> table(
        "command",
        {{.name = "first", .options = [] { return group_of("a thing"); }, .run = run},
         {.name = "second", .options = [] { return group_of("a thing"); }, .run = run},
         {.name = "third", .options = [] { return group_of("another"); }, .run = run}});
    const auto pages = option_pages(table);
    ASSERT_EQ(pages.size(), 1U);
    EXPECT_EQ(pages[0].file, "two-words.md");
    expect_contains(pages[0].text, "# Options: Two words\n");
    expect_contains(pages[0].text, "Of `sotto first`, `sotto second`.");
    expect_contains(pages[0].text, "Of `sotto third`.");
    expect_contains(pages[0].text, "| `--x VALUE` | &lt;7> | 1 \\| 2 | a thing | yes |\n");
    expect_contains(pages[0].text, "## `--x`\n\nMore about it.\n");
}

}  // namespace
}  // namespace sotto::cli
