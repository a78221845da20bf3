#include "agent/bootstrap/pair_seeds.hpp"

#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "sotto/trust/seed_agreement.hpp"
#include "trust/group_fixtures.hpp"
#include "trust/pair_fixtures.hpp"

namespace sotto {
namespace {

constexpr int paired_agents = 6;

/// Seeds of all pairs for the agents of one process, by agent and group.
std::map<std::pair<int, int>, std::string> pair_seeds(const std::vector<int>& local, int threads) {
    const NoisePlan plan = test::plan_of_all_groups(paired_agents);
    std::vector<int> groups;
    for (std::size_t g = 0; g < plan.groups.size(); ++g)
        if (plan.groups[g].members.size() == 2) groups.push_back(static_cast<int>(g));
    auto all = test::pair_secrets(paired_agents);
    Session session;
    session.transcript[0] = 3;
    for (const int agent : local)
        session.secrets.push_back(std::move(all[static_cast<std::size_t>(agent)]));
    std::map<std::pair<int, int>, std::string> seeds;
    for (const LocalSeed& entry : derive_pair_seeds(plan, session, local, groups, threads))
        EXPECT_TRUE(
            seeds.emplace(std::pair(local[entry.place], entry.group), to_hex(entry.seed.bytes()))
                .second)
            << "group " << entry.group << " twice";
    return seeds;
}

TEST(PairSeeds, AreThoseOfBothEndsHoweverAgentsAreSpreadOverProcesses) {
    const NoisePlan plan = test::plan_of_all_groups(paired_agents);
    std::vector<int> everybody(paired_agents);
    std::iota(everybody.begin(), everybody.end(), 0);
    const auto together = pair_seeds(everybody, 1);
    EXPECT_EQ(together.size(), static_cast<std::size_t>(paired_agents * (paired_agents - 1)));
    EXPECT_EQ(pair_seeds(everybody, 3), together);
    for (const auto& [end, seed] : together) {
        const auto& members = plan.groups[static_cast<std::size_t>(end.second)].members;
        EXPECT_EQ(seed, together.at({members[0], end.second}));
        EXPECT_EQ(seed, together.at({members[1], end.second}));
    }
    auto apart = pair_seeds({0, 3, 4}, 1);
    apart.merge(pair_seeds({1, 2, 5}, 2));
    EXPECT_EQ(apart, together);
}

TEST(PairSeeds, FollowFromThePairSecretTheTranscriptAndTheGroup) {
    const NoisePlan plan = test::plan_of_all_groups(paired_agents);
    auto secrets = test::pair_secrets(paired_agents);
    Digest transcript{};
    transcript[0] = 3;
    for (const auto& [end, seed] : pair_seeds({2}, 1)) {
        const auto& members = plan.groups[static_cast<std::size_t>(end.second)].members;
        const int peer = members[members[0] == 2 ? 1 : 0];
        EXPECT_EQ(
            seed,
            to_hex(
                group_seed(drawn_by_pair(secrets[2].with(peer), end.second), transcript, end.second)
                    .bytes()));
    }
}

}  // namespace
}  // namespace sotto
