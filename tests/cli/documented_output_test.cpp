// What the documentation shows is what the program prints, on the data it names.

#include <fmt/format.h>

#include <cstdlib>
#include <regex>

#include "page_folder.hpp"
#include "shown_output.hpp"

namespace sotto::test {
namespace {

/// A command as the page says it, with the program of the build for that of the page.
std::string command_of(const Shown& shown) {
    constexpr std::string_view folder = "build/";
    return shown.command.starts_with("build/sotto ") ? shown.command.substr(folder.size())
                                                     : shown.command;
}

/// Whether it takes seconds, and prints the same on every machine: plans, graphs, accounts and
/// averaging from a noise seed. Trainings of models, sweeps, and audits with real noise are not.
bool is_cheap(const std::string& command) {
    static const std::regex cheap(
        R"((for [^;]*; do )*sotto (plan|graph|account|train --task averaging) [^]*)");
    return std::regex_match(command, cheap) && command.find(" ... ") == std::string::npos;
}

TEST(Documentation, ShowsWhatTheProgramPrints) {
    const char* data = std::getenv("SOTTO_DATA_DIR");
    if (data == nullptr || *data == '\0')
        GTEST_SKIP() << "set SOTTO_DATA_DIR to a folder with the graphs of docs/accounting.md";
    int run = 0;
    for (const char* page : {"README",
                             "docs/accounting",
                             "docs/equations",
                             "docs/tasks",
                             "docs/threat-models",
                             "docs/walkthrough"}) {
        const PageFolder folder;
        for (const Shown& shown :
             shown_in(content_of(fmt::format(SOTTO_SOURCE_DIR "/{}.md", page)))) {
            const std::string command = command_of(shown);
            if (!is_cheap(command)) continue;
            ++run;
            SCOPED_TRACE(fmt::format("{}.md:{}: {}", page, shown.line, command));
            const Outcome outcome = folder.run(command);
            EXPECT_EQ(outcome.exit_code, 0) << outcome.text();
            EXPECT_EQ(not_printed(shown, outcome.out), std::vector<std::string>{})
                << outcome.text();
        }
    }
    EXPECT_GE(run, 20) << "commands are no longer found";
}

/// What an audit says of drawn noise: bounds as the page has them, measurements near them.
void expect_like(const std::string& shown, const std::string& printed) {
    SCOPED_TRACE(fmt::format("{}\nis shown, printed is\n{}", shown, printed));
    const std::vector<double> wanted = numbers_of(shown), got = numbers_of(printed);
    const bool hypothesis = shown.starts_with("  constant") || shown.starts_with("  random");
    if (hypothesis) {
        ASSERT_EQ(got.size(), 7U);
        EXPECT_NEAR(got[1], wanted[1], 1e-3) << "the accountant's mu";
        EXPECT_NEAR(got[2], wanted[2], 0.2) << "the measured one";
    }
    if (shown.starts_with("  recovered")) {
        EXPECT_NEAR(got[1], wanted[1], 1) << "rows";
    }
    if (shown.starts_with("  epsilon of a record")) {
        EXPECT_NEAR(got[1], wanted[1], 1e-3) << "the accountant's epsilon";
    }
}

struct RunAsShown {
    Shown shown;
    Outcome outcome;
};

/// The commands of the page in their order, up to the first that fails.
std::vector<RunAsShown> run_threat_models() {
    const PageFolder folder;
    std::vector<RunAsShown> all;
    for (const Shown& shown : shown_in(content_of(SOTTO_SOURCE_DIR "/docs/threat-models.md"))) {
        if (shown.command.find(" ... ") != std::string::npos) continue;
        all.push_back({shown, folder.run(shown.command)});
        if (all.back().outcome.exit_code != 0) break;
    }
    return all;
}

TEST(Documentation, ShowsHowAuditsComeOut) {
    const char* data = std::getenv("SOTTO_DATA_DIR");
    if (data == nullptr || *data == '\0') GTEST_SKIP() << "set SOTTO_DATA_DIR to a folder with a9a";
    // By its level of confidence an audit finds a right program wrong once in a hundred times. One
    // that is wrong is so again with other noise.
    constexpr int found_inconsistent = 6;
    std::vector<RunAsShown> all = run_threat_models();
    if (all.back().outcome.exit_code == found_inconsistent) all = run_threat_models();
    int audits = 0, lines = 0;
    for (const auto& [shown, outcome] : all) {
        SCOPED_TRACE(shown.command);
        ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
        if (shown.command.find("sotto audit") == std::string::npos) continue;
        ++audits;
        const std::vector<std::string> printed = lines_of(outcome.out);
        for (const std::string& line : shown.lines) {
            const auto like = std::ranges::find_if(
                printed, [&](const std::string& other) { return has_same_words(line, other); });
            if (like == printed.end()) {
                // Tables of agents are ordered by what was measured, and are shown in part.
                EXPECT_FALSE(line.starts_with("consistent") || line.starts_with("audit"))
                    << line << '\n'
                    << outcome.text();
                continue;
            }
            expect_like(line, *like);
            ++lines;
        }
    }
    EXPECT_GE(audits, 6) << "commands are no longer found";
    EXPECT_GE(lines, 40);
}

TEST(Documentation, ShowsWhatMistakesCost) {
    const PageFolder folder;
    int run = 0;
    for (const Shown& shown : shown_in(content_of(SOTTO_SOURCE_DIR "/docs/mistakes.md"))) {
        SCOPED_TRACE(fmt::format("docs/mistakes.md:{}: {}", shown.line, shown.command));
        const Outcome outcome = folder.run(shown.command);
        if (outcome.err.find("No module named 'numpy'") != std::string::npos)
            GTEST_SKIP() << "there is no numpy";
        EXPECT_EQ(outcome.exit_code, 0) << outcome.text();
        EXPECT_EQ(not_printed(shown, outcome.out), std::vector<std::string>{}) << outcome.text();
        ++run;
    }
    EXPECT_GE(run, 18) << "commands are no longer found";
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
    EXPECT_TRUE(same_line("certified to 0 relative", "certified to 6.4e-16 relative"));
    EXPECT_FALSE(same_line("certified to 0 relative", "certified to 6.4e-14 relative"));
    EXPECT_FALSE(same_line("epsilon 1.0005", "epsilon 1.0001"));
    EXPECT_FALSE(same_line("epsilon 1.0001", "delta 1.0001"));
    EXPECT_FALSE(same_line("epsilon 1", "epsilon 1 1"));
    const Shown shown{"", {"a 1", "", "... more", "b 2"}, 1};
    EXPECT_EQ(not_printed(shown, "c 3\na 1\n"), (std::vector<std::string>{"b 2"}));
}

TEST(DocumentationOutput, IsCheapWhereItTakesSecondsAndIsTheSameEverywhere) {
    EXPECT_TRUE(is_cheap("sotto plan --mechanism corn"));
    EXPECT_TRUE(is_cheap("for q in 1 2; do sotto account --sampling-probability $q; done"));
    EXPECT_TRUE(is_cheap(command_of({"build/sotto plan --mechanism corn", {}, 1})));
    EXPECT_FALSE(is_cheap("sotto audit ... --mechanism none"));
    EXPECT_FALSE(is_cheap("sotto train --data a9a.gz"));
    EXPECT_FALSE(is_cheap("deploy/mpirun -n 2 sotto plan"));
}

}  // namespace
}  // namespace sotto::test
