#include "sotto/agent/bootstrap/seed_distribution.hpp"

#include <gtest/gtest.h>

#include <set>

#include "agent/agent_fixtures.hpp"
#include "sotto/agent/bootstrap/session_opening.hpp"
#include "sotto/net/memory_network.hpp"
#include "trust/group_fixtures.hpp"

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

}  // namespace
}  // namespace sotto
