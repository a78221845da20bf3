// What the documentation shows is what the program prints, on the data it names.

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <sstream>

#include "program.hpp"

namespace sotto::test {
namespace {

struct Shown {
    std::string command;
    std::vector<std::string> lines;
};

/// Blocks of a document that begin with "$ sotto ".
std::vector<Shown> shown_in(const std::string& document) {
    std::vector<Shown> blocks;
    bool inside = false, shown = false;
    for (const std::string& line : lines_of(content_of(document))) {
        if (line.starts_with("```")) {
            inside = !inside;
            shown = false;
        } else if (inside && line.starts_with("$ sotto ")) {
            blocks.push_back({line.substr(8), {}});
            shown = true;
        } else if (shown) {
            blocks.back().lines.push_back(line);
        }
    }
    return blocks;
}

std::vector<std::string> words_of(const std::string& line) {
    std::istringstream stream(line);
    std::vector<std::string> words;
    for (std::string word; stream >> word;) words.push_back(word);
    return words;
}

/// The same words, and the same numbers but for what the last steps of an iteration may change from
/// processor to processor. Times ("2.72 s" at the end) may be any.
bool same_line(const std::string& shown, const std::string& printed) {
    constexpr double tolerance = 1e-4;
    const auto left = words_of(shown), right = words_of(printed);
    if (left.size() != right.size()) return false;
    for (std::size_t i = 0; i < left.size(); ++i) {
        if (left[i] == right[i]) continue;
        if (i + 2 == left.size() && left.back() == "s") continue;
        char *left_end = nullptr, *right_end = nullptr;
        const double a = std::strtod(left[i].c_str(), &left_end);
        const double b = std::strtod(right[i].c_str(), &right_end);
        if (left_end == left[i].c_str() || std::string(left_end) != right_end ||
            !(std::abs(a - b) <= tolerance * std::abs(a)))
            return false;
    }
    return true;
}

TEST(Documentation, OfTheAccountantShowsWhatTheProgramPrints) {
    const char* data = std::getenv("SOTTO_DATA_DIR");
    if (data == nullptr || *data == '\0')
        GTEST_SKIP() << "set SOTTO_DATA_DIR to a folder with the graphs of docs/accounting.md";
    const auto blocks = shown_in(SOTTO_DOCS_DIR "/accounting.md");
    ASSERT_GE(blocks.size(), 5U);
    for (const Shown& block : blocks) {
        SCOPED_TRACE(block.command);
        const Outcome outcome =
            Process(sotto_command(one_process, words_of(block.command)), data).wait();
        EXPECT_EQ(outcome.exit_code, 0) << outcome.text();
        const auto printed = lines_of(outcome.out);
        for (const std::string& line : block.lines)
            if (!line.empty() && !line.starts_with("...")) {
                EXPECT_TRUE(std::ranges::any_of(printed, [&](const std::string& other) {
                    return same_line(line, other);
                })) << line;
            }
    }
}

}  // namespace
}  // namespace sotto::test
