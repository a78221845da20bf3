// What the README shows is what a reader gets, whose noise is another.

#include <algorithm>

#include "page_folder.hpp"
#include "shown_output.hpp"

namespace sotto::test {
namespace {

constexpr double accuracy_may_differ = 0.08;  // another draw of the noise, a few hundred records

/// Accuracies near those that are shown; everything else but times to the last digit.
void expect_like(const std::string& shown, const std::string& printed) {
    const bool drawn = shown.starts_with("result") || shown.starts_with("accuracy");
    if (shown.starts_with("time")) return;
    const std::vector<double> wanted = numbers_of(shown), got = numbers_of(printed);
    for (std::size_t k = 0; k < wanted.size(); ++k)
        EXPECT_NEAR(got[k], wanted[k], drawn ? accuracy_may_differ : 0)
            << shown << '\n'
            << printed;
}

TEST(Readme, ShowsWhatItsCommandsPrint) {
    const PageFolder folder;
    int lines = 0;
    for (const Shown& shown : shown_in(content_of(SOTTO_SOURCE_DIR "/README.md"))) {
        SCOPED_TRACE(shown.command);
        const Outcome outcome = folder.run(shown.command);
        ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
        const std::vector<std::string> printed = lines_of(outcome.out);
        for (const std::string& line : shown.lines) {
            if (line.empty() || line.starts_with("...")) continue;
            const auto like = std::ranges::find_if(
                printed, [&](const std::string& other) { return has_same_words(line, other); });
            // Times are said in other units, and shares of them may be missing.
            if (line.starts_with("time")) continue;
            ASSERT_NE(like, printed.end()) << line << '\n' << outcome.text();
            expect_like(line, *like);
            ++lines;
        }
    }
    EXPECT_GE(lines, 8) << "commands are no longer found";
}

TEST(ReadmePage, IsShort) {
    const std::vector<std::string> lines = lines_of(content_of(SOTTO_SOURCE_DIR "/README.md"));
    EXPECT_LE(lines.size(), 120U);
    for (const std::string& line : lines)
        EXPECT_LE(line.size(), 130U) << line;  // bytes, of which some are parts of letters
}

}  // namespace
}  // namespace sotto::test
