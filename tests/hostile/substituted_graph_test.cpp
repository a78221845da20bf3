// What secure sums hide depends on the graph. Rank 0 must not choose one that shows an agent's
// message to others; and sums that hide nothing must not be trained with.

#include <fmt/format.h>

#include <string>

#include "hostile/stopped_run.hpp"

namespace sotto::test {
namespace {

/// `sotto train` for a few rounds.
Arguments training(const Arguments& more, const std::string& sums = "on") {
    Arguments arguments{"train",
                        "--task",
                        "quadratic",
                        "--rounds",
                        "20",
                        "--quiet",
                        "--run-directory",
                        "run",
                        "--secure-sum",
                        sums};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
}

void expect_refused(const Outcome& outcome, int exit_code, const std::string& reason) {
    EXPECT_EQ(outcome.exit_code, exit_code) << outcome.text();
    const auto errors = error_lines(outcome.err);
    ASSERT_EQ(errors.size(), 1U) << outcome.text();
    EXPECT_NE(errors.front().find(reason), std::string::npos) << errors.front();
}

struct OtherGraph {
    std::string name;
    Arguments sent, asked;
    std::string reason;
};

class GraphOfRank0 : public ::testing::TestWithParam<OtherGraph> {};

TEST_P(GraphOfRank0, IsRefusedWithSecureSums) {
    const OtherGraph& other = GetParam();
    const TempDir directory;
    (void)directory.write("bridge.edges", "0 1\n0 2\n");
    // An agent's weight for another differs by less than what counts as rounding between ranks.
    (void)directory.write("tilted.txt",
                          "0.4 0.3 0.3\n0.3 0.3999999999999 0.3000000000001\n0.3 0.3 0.4\n");
    (void)directory.write("even.txt", "0.4 0.3 0.3\n0.3 0.4 0.3\n0.3 0.3 0.4\n");
    Process process(disagreeing_command(training(other.sent), training(other.asked)),
                    directory.path());
    expect_refused(process.wait(), 5, other.reason);
    EXPECT_FALSE(std::filesystem::exists(directory.path() / "run"));
}

INSTANTIATE_TEST_SUITE_P(
    OfRank0,
    GraphOfRank0,
    ::testing::Values(OtherGraph{"path_for_complete",
                                 {"--topology", "path"},
                                 {"--topology", "complete"},
                                 "rank 1 found another graph than rank 0"},
                      OtherGraph{"file_for_complete",
                                 {"--graph", "bridge.edges"},
                                 {"--topology", "complete"},
                                 "rank 1 found another graph than rank 0"},
                      OtherGraph{"one_peer_for_fixed",
                                 {"--topology", "exponential", "--mixing-schedule", "one-peer"},
                                 {"--topology", "exponential"},
                                 "rank 1 found another mixing schedule than rank 0"},
                      OtherGraph{"weights_for_others",
                                 {"--topology", "complete", "--mixing", "lazy-metropolis"},
                                 {"--topology", "complete"},
                                 "mixing matrix"},
                      OtherGraph{"weights_that_differ_by_little",
                                 {"--topology", "complete", "--mixing", "tilted.txt"},
                                 {"--topology", "complete", "--mixing", "even.txt"},
                                 "rank 1 built other mixing weights than rank 0"}),
    [](const auto& test) { return test.param.name; });

TEST(GraphOfRank0, MayBeAnotherWithoutSecureSums) {
    const TempDir directory;
    Process process(disagreeing_command(training({"--topology", "path"}, "off"),
                                        training({"--topology", "complete"}, "off")),
                    directory.path());
    const Outcome outcome = process.wait();
    EXPECT_EQ(outcome.exit_code, 0) << outcome.text();
}

TEST(ForeignGraphs, AreRefusedByEveryHonestAgent) {
    struct Foreign {
        std::string option, value, kept;
    };
    StoppedRun run({"--secure-sum", "on"});
    for (const auto& [option, value, kept] : {Foreign{"topology", "path", "'complete'"},
                                              {"mixing", "lazy-metropolis", "'metropolis'"},
                                              {"mixing-schedule", "one-peer", "'fixed'"},
                                              {"gossip-steps", "9", "'1'"},
                                              {"eval-every", "1", "'1000000000'"},
                                              {"mask-partners", "1", "'16'"},
                                              {"secure-sum", "off", "'on'"}}) {
        run.set_at_rank_0(option, value);
        expect_refused(run.resume(),
                       5,
                       fmt::format("agent 1 takes no --{} from another rank: config.ini, as rank 0 "
                                   "has it, has '{}', its own checkpoint {}",
                                   option,
                                   value,
                                   kept));
        run.set_nothing_at_rank_0();
    }
}

TEST(ForeignGraphs, GoOnWhereTheyAreTheSame) {
    const StoppedRun run({"--secure-sum", "on"});
    const Outcome outcome = run.resume({"--dry-run"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.text();
}

TEST(SumsThatHideNothing, EndTheJobOfAllRanks) {
    for (const Arguments& graph :
         {Arguments{"--topology", "exponential", "--mixing-schedule", "one-peer"},
          Arguments{"--topology", "ring", "--coalition-size", "2"}}) {
        const TempDir directory;
        const Outcome outcome = run_sotto(directory, 4, training(graph));
        expect_refused(outcome, 2, "secure-sum: on hides nothing on this graph and schedule");
        EXPECT_FALSE(std::filesystem::exists(directory.path() / "run"));
    }
}

}  // namespace
}  // namespace sotto::test
