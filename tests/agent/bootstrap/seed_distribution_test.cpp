#include "agent/bootstrap/seed_distribution.hpp"

#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "agent/agent_fixtures.hpp"
#include "agent/bootstrap/sharing.hpp"
#include "net/memory_network.hpp"
#include "trust/group_fixtures.hpp"
#include "trust/pair_fixtures.hpp"
#include "trust/seed_agreement.hpp"

namespace sotto {
namespace {

using test::is_member;
using test::plan_of_all_groups;

struct Rings {
    Session session;
    std::vector<KeyRing> rings;
};

/// Handshake and seeds of agents that live in one process.
Rings rings_in_one_process(int agents, int threads) {
    const auto network = make_memory_network(agents, threads);
    const NoisePlan plan = plan_of_all_groups(agents);
    Rings result{
        open_session(*network, test::topography_of(Topology::complete, agents), plan, nullptr), {}};
    result.rings = distribute_seeds(*network, plan, result.session, threads);
    return result;
}

TEST(SeedsInOneProcess, ReachExactlyTheMembersOfTheirGroups) {
    for (const int agents : {1, 2, 3, 7, 16})
        for (const int threads : {1, 3}) {
            const NoisePlan plan = plan_of_all_groups(agents);
            const auto [session, rings] = rings_in_one_process(agents, threads);
            ASSERT_EQ(rings.size(), static_cast<std::size_t>(agents));
            std::set<std::string> distinct;
            for (int group = 0; group < static_cast<int>(plan.groups.size()); ++group) {
                std::set<std::string> of_members;
                for (const auto& ring : rings) {
                    ASSERT_EQ(ring.holds(group), is_member(plan, group, ring.agent()));
                    if (ring.holds(group)) of_members.insert(to_hex(ring.seed(group).bytes()));
                }
                EXPECT_EQ(of_members.size(), 1U) << "group " << group;
                distinct.merge(of_members);
            }
            EXPECT_EQ(distinct.size(), plan.groups.size());
        }
}

TEST(SeedsInOneProcess, OfPairsAreThoseTheTwoEndsWouldComputeForThemselves) {
    const int agents = 6;
    const NoisePlan plan = plan_of_all_groups(agents);
    auto [session, rings] = rings_in_one_process(agents, 2);
    for (int group = 0; group < static_cast<int>(plan.groups.size()); ++group) {
        const auto& members = plan.groups[static_cast<std::size_t>(group)].members;
        if (members.size() != 2) continue;
        for (const int end : members) {
            const int peer = members[members[0] == end ? 1 : 0];
            auto& secrets = session.secrets[static_cast<std::size_t>(end)];
            EXPECT_EQ(
                rings[static_cast<std::size_t>(end)].seed(group),
                group_seed(drawn_by_pair(secrets.with(peer), group), session.transcript, group));
        }
    }
}

TEST(SeedsInOneProcess, DifferInEveryRun) {
    const auto one = rings_in_one_process(5, 1).rings;
    const auto two = rings_in_one_process(5, 1).rings;
    for (std::size_t u = 0; u < one.size(); ++u)
        for (const int group : one[u].groups())
            EXPECT_FALSE(one[u].seed(group) == two[u].seed(group));
}

TEST(PlaceOf, IsThatAmongTheAgentsOfTheProcess) {
    const std::vector<int> local{2, 3, 7};
    for (std::size_t place = 0; place < local.size(); ++place)
        EXPECT_EQ(place_of(local, local[place]), place);
    for (const int elsewhere : {-1, 0, 4, 8}) EXPECT_EQ(place_of(local, elsewhere), std::nullopt);
    EXPECT_EQ(place_of({}, 0), std::nullopt);
}

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
