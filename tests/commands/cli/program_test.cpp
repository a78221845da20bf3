#include "commands/cli/program.hpp"

#include "config/run_fixtures.hpp"

namespace sotto::cli {
namespace {

using test::expect_contains;

struct Outcome {
    int code = 0;
    std::string out, err;
};

Outcome run(const std::vector<std::string>& arguments) {
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    Outcome outcome;
    outcome.code = run_program(arguments);
    std::fflush(stdout);
    std::fflush(stderr);
    outcome.out = ::testing::internal::GetCapturedStdout();
    outcome.err = ::testing::internal::GetCapturedStderr();
    return outcome;
}

TEST(Program, ListsItsCommands) {
    const Outcome help = run({"--help"});
    EXPECT_EQ(help.code, 0);
    expect_contains(help.out, "\n  doctor   check whether this machine");
    EXPECT_EQ(run({"-h"}).out, help.out);
    const Outcome nothing = run({});
    EXPECT_EQ(nothing.code, 2);
    EXPECT_EQ(nothing.out, help.out);
}

TEST(Program, ShowsTheHelpOfACommandWhateverElseIsGiven) {
    const Outcome help = run({"graph", "--agents", "0", "--help"});
    EXPECT_EQ(help.code, 0);
    expect_contains(help.out, "usage: sotto graph [options]");
}

TEST(Program, EndsWithTheCodeAndOneLineOfAnError) {
    const Outcome misspelt = run({"grahp"});
    EXPECT_EQ(misspelt.code, 2);
    expect_contains(misspelt.err, "did you mean 'graph'?");
    EXPECT_EQ(run({"graph", "--agents", "0"}).code, 2);
    EXPECT_EQ(run({"graph", "--graph", "/nonexistent.edges"}).code, 3);
}

TEST(Program, RunsACommand) {
    const Outcome graph = run({"graph", "--topology", "ring", "--agents", "6", "--json", "-"});
    EXPECT_EQ(graph.code, 0);
    EXPECT_EQ(test::Json::parse(graph.out).at("edges"), 6);
    expect_contains(graph.err, "agents   6, 6 edges");
}

}  // namespace
}  // namespace sotto::cli
