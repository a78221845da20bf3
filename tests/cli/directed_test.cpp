// Directed graphs as a user meets them.

#include <fmt/format.h>

#include <algorithm>

#include "program.hpp"

namespace sotto::test {
namespace {

using Json = nlohmann::json;

/// Runs it, and reads the JSON it wrote.
Json json_of_command(const TempDir& directory, int ranks, Arguments arguments) {
    arguments.insert(arguments.end(), {"--quiet", "--json", "out.json"});
    const Outcome outcome = run_sotto(directory, ranks, arguments);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.text();
    return outcome.exit_code == 0 ? json_of(directory / "out.json") : Json::object();
}

TEST(DirectedGraphs, SayHowUnequallyAgentsCount) {
    const TempDir directory;
    directory.write("some.edges", "a b\nb c\nc a\na c\nc d\n");
    const Json mean = json_of_command(directory,
                                      one_process,
                                      {"graph",
                                       "--graph",
                                       "some.edges",
                                       "--directed",
                                       "--mixing",
                                       "row-stochastic",
                                       "--out",
                                       "kept.edges"});
    EXPECT_EQ(mean.at("directed"), true);
    EXPECT_EQ(mean.at("agents"), 3);
    EXPECT_EQ(mean.at("edges"), 4);
    EXPECT_EQ(mean.at("doubly_stochastic"), false);
    // pi = pi W of a - {a, c}, b - {a, b}, c - {a, b, c}, halves and thirds: (4, 2, 3) / 9.
    EXPECT_NEAR(mean.at("perron_min"), 2.0 / 3, 1e-12);
    EXPECT_NEAR(mean.at("perron_max"), 4.0 / 3, 1e-12);
    EXPECT_EQ(content_of(directory / "kept.edges"),
              "# 3 agents, 4 directed edges\na b\na c\nb c\nc a\n");
    const Json ring = json_of_command(
        directory, one_process, {"graph", "--topology", "ring", "--agents", "5", "--directed"});
    EXPECT_EQ(ring.at("mixing"), "push-sum");
    EXPECT_EQ(ring.at("doubly_stochastic"), true);
    EXPECT_NEAR(ring.at("perron_max"), 1, 1e-12);
}

TEST(DirectedGraphs, OfUndirectedFamiliesOrRulesAreRefused) {
    const TempDir directory;
    expect_refused(directory, {"graph", "--topology", "star", "--directed"}, 2, "topology star");
    expect_refused(
        directory, {"graph", "--directed", "--mixing", "metropolis"}, 2, "allowed with --directed");
    expect_refused(directory,
                   {"plan", "--directed", "--mechanism", "zip-dl"},
                   2,
                   "mechanism zip-dl: noise on messages");
    for (const Arguments& more :
         std::vector<Arguments>{{"--l2", "0.1"}, {"--average", "tail:0.5"}}) {
        Arguments arguments = short_training({"--directed"});
        *(std::ranges::find(arguments, "--topology") + 1) = "ring";
        arguments.insert(arguments.end(), more.begin(), more.end());
        expect_refused(directory, arguments, 2, "push-sum");
    }
    expect_refused(directory,
                   {"account", "--directed", "--rounds", "9", "--departures", "3:1"},
                   2,
                   "--departures: not possible with --mixing push-sum");
}

double view_epsilon(const Json& account, int target) {
    for (const Json& row : account.at("pairs"))
        if (row.at("target") == target) return row.at("epsilon");
    ADD_FAILURE() << account;
    return -1;
}

TEST(DirectedGraphs, TellAnObserverLessWhereItHearsFewer) {
    const TempDir directory;
    const auto epsilon_of_next = [&](const Arguments& more) {
        Arguments arguments{"account",
                            "--topology",
                            "ring",
                            "--agents",
                            "7",
                            "--rounds",
                            "20",
                            "--mechanism",
                            "ldp",
                            "--mixing",
                            "row-stochastic",
                            "--view",
                            "node:0"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return view_epsilon(json_of_command(directory, one_process, arguments), 1);
    };
    // Agent 0 hears agent 6 alone: agent 1 is six hops away instead of one.
    EXPECT_LT(epsilon_of_next({"--directed"}), 0.5 * epsilon_of_next({}));
}

class DirectedAudit : public ::testing::TestWithParam<int> {};

TEST_P(DirectedAudit, MeasuresWhatIsAccounted) {
    const TempDir directory;
    for (const char* view : {"coalition:1,3", "eavesdropper"}) {
        const Json audit = json_of_command(directory,
                                           GetParam(),
                                           {"audit",
                                            "--directed",
                                            "--edge-probability",
                                            "0.4",
                                            "--agents",
                                            "5",
                                            "--mechanism",
                                            "decor",
                                            "--rounds",
                                            "6",
                                            "--trials",
                                            "600",
                                            "--noise-seed",
                                            "3",
                                            "--view",
                                            view,
                                            "--run-directory",
                                            fmt::format("run-{}", std::string(view).substr(0, 4))});
        EXPECT_EQ(audit.at("consistent"), true) << view;
        EXPECT_GT(audit.at("mu_lower"), 0) << view;
    }
}
INSTANTIATE_TEST_SUITE_P(AloneAndOverMpi, DirectedAudit, ::testing::Values(one_process, 5));

TEST(DirectedReport, DrawsArrows) {
    const TempDir directory;
    const std::string data = directory.write("data.svm", small_data(60));
    ASSERT_EQ(run_sotto(directory,
                        one_process,
                        {"train",
                         "--data",
                         data,
                         "--directed",
                         "--topology",
                         "ring",
                         "--agents",
                         "4",
                         "--rounds",
                         "5",
                         "--batch-size",
                         "5",
                         "--quiet",
                         "--run-directory",
                         "run"})
                  .exit_code,
              0);
    ASSERT_EQ(run_sotto(directory, one_process, {"report", "run", "--quiet"}).exit_code, 0);
    const std::string page = content_of(directory / "run/report.html");
    EXPECT_NE(page.find("\"directed\":true,"), std::string::npos);
    EXPECT_NE(page.find("[0,1],[1,2],[2,3],[3,0]"), std::string::npos);
}

}  // namespace
}  // namespace sotto::test
