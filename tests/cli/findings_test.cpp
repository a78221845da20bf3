// docs/findings.md says what its commands print, in its sentences too.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <regex>

#include "page_folder.hpp"
#include "shown_output.hpp"

namespace sotto::test {
namespace {

/// One section of the page.
struct Finding {
    std::string title;
    std::string text;  ///< without commands and their output
    std::vector<Shown> shown;
};

std::vector<Finding> findings_of(const std::string& page) {
    std::vector<Finding> findings;
    std::string section;
    bool in_block = false;
    const auto close = [&] {
        if (!findings.empty()) findings.back().shown = shown_in(section);
        section.clear();
    };
    for (const std::string& line : lines_of(page)) {
        if (line.starts_with("## ")) {
            close();
            findings.push_back({line.substr(3), "", {}});
        }
        section += line + '\n';
        if (line.starts_with("```"))
            in_block = !in_block;
        else if (!in_block && !findings.empty())
            findings.back().text += line + '\n';
    }
    close();
    return findings;
}

/// What the project says itself: without the paragraph that says what the paper has, and without
/// what stands between backticks.
std::string own_words(const Finding& finding) {
    static const std::regex not_own(R"(\*\*Paper\.\*\*[^]*?\n\n|`[^`]*`)");
    return std::regex_replace(finding.text, not_own, "\n");
}

/// Numbers of a text, signs left out.
std::vector<std::string> numbers_in(const std::string& text, const std::regex& number) {
    return {std::sregex_token_iterator(text.begin(), text.end(), number), {}};
}

/// Numbers with a decimal point in the words of a finding that neither its commands have nor their
/// output, rounded to as many digits.
std::vector<std::string> unfounded(const Finding& finding) {
    static const std::regex any(R"(\d+(?:\.\d+)?(?:e[-+]?\d+)?)"), decimal(R"(\d+\.\d+)");
    std::vector<double> founded;
    for (const Shown& shown : finding.shown) {
        std::string text = shown.command;
        for (const std::string& line : shown.lines) text += '\n' + line;
        for (const std::string& number : numbers_in(text, any))
            founded.push_back(std::stod(number));
    }
    std::vector<std::string> unfounded;
    for (const std::string& number : numbers_in(own_words(finding), decimal)) {
        const auto digits = static_cast<double>(number.size() - number.find('.') - 1);
        const double half = 0.5000001 * std::pow(10.0, -digits);
        if (std::ranges::none_of(founded,
                                 [&](double x) { return std::abs(x - std::stod(number)) <= half; }))
            unfounded.push_back(number);
    }
    return unfounded;
}

std::vector<Finding> findings() {
    return findings_of(content_of(SOTTO_SOURCE_DIR "/docs/findings.md"));
}

TEST(Findings, AreWhatTheirCommandsPrint) {
    const PageFolder folder;
    std::string skipped;
    for (const Finding& finding : findings())
        for (const Shown& shown : finding.shown) {
            SCOPED_TRACE(finding.title + '\n' + shown.command);
            if (const auto file = folder.missing_file(shown.command); !file.empty()) {
                skipped += fmt::format("{}: there is no {}\n", finding.title, file);
                continue;
            }
            const Outcome outcome = folder.run(shown.command);
            if (outcome.err.find("No module named 'numpy'") != std::string::npos) {
                skipped += fmt::format("{}: there is no numpy\n", finding.title);
                continue;
            }
            EXPECT_EQ(outcome.exit_code, 0) << outcome.text();
            EXPECT_EQ(not_printed(shown, outcome.out), std::vector<std::string>{})
                << outcome.text();
        }
    // A test that failed is not taken for one that was skipped.
    if (skipped.empty()) return;
    if (HasFailure())
        std::cout << skipped;
    else
        GTEST_SKIP() << "all others hold, but something is missing:\n" << skipped;
}

TEST(Findings, SayWhatThePaperHasWhatIsFoundAndTheCommandThatShowsIt) {
    EXPECT_GE(findings().size(), 15U);
    for (const Finding& finding : findings()) {
        SCOPED_TRACE(finding.title);
        EXPECT_NE(finding.text.find("\n**Paper.** "), std::string::npos);
        EXPECT_NE(finding.text.find("\n**Here.** "), std::string::npos);
        EXPECT_FALSE(finding.shown.empty());
        for (const Shown& shown : finding.shown) EXPECT_FALSE(shown.lines.empty()) << shown.command;
    }
}

TEST(Findings, HaveNoNumberInTheirSentencesThatNoCommandPrints) {
    for (const Finding& finding : findings())
        EXPECT_EQ(unfounded(finding), std::vector<std::string>{}) << finding.title;
}

TEST(FindingsCheck, SeesNumbersThatNoCommandPrints) {
    const auto read = findings_of(
        "head 0.5\n## A\n\n**Paper.** It has\n7.1.\n\n**Here.** 3.50 and 3.5, `7.2`, 0.1, 4.67, "
        "12.0.\n\n"
        "```\n$ c --step 0.1\nx 3.501 1.2e1\n```\n## B\n\n5.5\n");
    ASSERT_EQ(read.size(), 2U);
    EXPECT_EQ(read[0].shown.size(), 1U);
    EXPECT_EQ(unfounded(read[0]), (std::vector<std::string>{"4.67"}));
    EXPECT_EQ(read[1].title, "B");
    EXPECT_TRUE(read[1].shown.empty());
    EXPECT_EQ(unfounded(read[1]), (std::vector<std::string>{"5.5"}));
}

}  // namespace
}  // namespace sotto::test
