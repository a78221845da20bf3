#include "commands/cli/job.hpp"

#include <thread>

#include "run/run_fixtures.hpp"

namespace sotto::cli {
namespace {

using test::expect_contains;
using test::message_of;

TEST(GrantedThreads, AreThoseAskedForOrAllCoresOfAProcessThatIsAlone) {
    EXPECT_EQ(granted_threads(3, true), 3);
    EXPECT_EQ(granted_threads(3, false), 3);
    EXPECT_EQ(granted_threads(0, false), 1);
    EXPECT_EQ(granted_threads(0, true),
              std::max(1, static_cast<int>(std::thread::hardware_concurrency())));
}

TEST(EveryRank, IsAnAgent) {
    OptionTexts given{{"rounds", "5"}};
    resolve_agents(given, 3);
    EXPECT_EQ(given.at("agents"), "3");
    OptionTexts same{{"agents", "3"}};
    EXPECT_NO_THROW(resolve_agents(same, 3));
    OptionTexts other{{"agents", "4"}};
    expect_contains(message_of<ConfigError>([&] { resolve_agents(other, 3); }),
                    "--agents: 4 given, but 3 MPI ranks were started");
    // A graph file says how many agents there are.
    OptionTexts graph{{"agents", "4"}, {"graph", "x.edges"}};
    EXPECT_NO_THROW(resolve_agents(graph, 3));
}

TEST(JobOfOneProcess, RunsOnAllItsAgents) {
    bool was_alone = false;
    int processes = 0, agents = 0;
    const int code = run_job([&](Network& ranks, bool alone) {
        was_alone = alone;
        processes = ranks.processes();
        return PreparedJob{[] { return 5; },
                           1,
                           [&](Network& network) {
                               agents = network.agents();
                               return 6;
                           }};
    });
    EXPECT_EQ(code, 6);
    EXPECT_TRUE(was_alone);
    EXPECT_EQ(processes, 1);
    EXPECT_EQ(agents, 5);
}

TEST(JobOfOneProcess, ThrowsWhatWentWrong) {
    EXPECT_THROW((void)run_job([](Network& ranks, bool) {
                     ranks.agree([] { throw DataError("damaged"); });
                     return PreparedJob{};
                 }),
                 DataError);
}

TEST(JobOfSeveralRanks, EndsWithTheCodeOfItsError) {
    const auto network = make_memory_network(2, 1);
    EXPECT_EQ(run_together(*network, [] { return 3; }), 3);
}

}  // namespace
}  // namespace sotto::cli
