#include "training/job.hpp"

#include <thread>

#include "config/run_fixtures.hpp"
#include "net/memory_network.hpp"

namespace sotto {
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

TEST(EveryRank, IsAnAgentUnlessMoreAreAskedFor) {
    OptionTexts given{{"rounds", "5"}};
    resolve_agents(given, 3);
    EXPECT_EQ(given.at("agents"), "3");
    OptionTexts more{{"agents", "40"}};
    resolve_agents(more, 3);
    EXPECT_EQ(more.at("agents"), "40");
}

TEST(EveryRank, HostsAnAgentAtLeast) {
    const auto one = make_memory_network(1, 1);
    EXPECT_EQ(agree_on_agents(*one, 1), 1);
    EXPECT_EQ(agree_on_agents(*one, 7), 7);
    expect_contains(message_of<ConfigError>([&] { (void)agree_on_agents(*one, 0); }),
                    "--agents: 0 given, but 1 MPI ranks were started");
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
}  // namespace sotto
