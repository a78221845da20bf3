#include "sotto/plan/plan_size.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "sotto/plan/plan_json.hpp"

namespace sotto {
namespace {

/// As large as can be: groups of two as often as there is room, of which everybody adds all.
NoisePlan large_plan(int agents, int rounds) {
    NoisePlan plan;
    plan.mechanism = "pairs";
    plan.agents = agents;
    plan.scale = -0x1.fffffffffffffp-1000;
    plan.temporal.kind = TemporalFactor::Kind::dense;
    plan.temporal.lower = Eigen::MatrixXd::Constant(rounds, rounds, -0x1.fffffffffffffp-1000);
    const auto groups = static_cast<int>(most_group_members(agents) / 2);
    for (int g = 0; g < groups; ++g) {
        plan.groups.push_back({{0, agents - 1}});
        plan.streams.push_back({g, UINT64_MAX, StreamDistribution::gaussian});
    }
    for (const int sender : {0, agents - 1}) {
        NoiseRow row{sender, NoiseRow::all_receivers, {}, {}};
        for (int g = 0; g < groups; ++g) {
            row.streams.push_back(g);
            row.coefficients.push_back(-0x1.fffffffffffffp-1000);
        }
        plan.rows.push_back(row);
    }
    return plan;
}

TEST(LargestPlanBytes, AreEnoughForTheLargestPlanAndNotMuchMore) {
    for (const int agents : {2, 3, 20})
        for (const int rounds : {1, 50}) {
            const std::size_t bytes = to_json(large_plan(agents, rounds)).size();
            const auto most = largest_plan_bytes(agents, 0, static_cast<double>(rounds) * rounds);
            EXPECT_LE(bytes, most) << agents;
            EXPECT_GE(4 * bytes, most) << agents;
        }
}

TEST(LargestPlanBytes, SaturateWhereNoMemoryWouldDo) {
    EXPECT_EQ(largest_plan_bytes(2, 1e300, 1e300), std::uint64_t{1} << 62);
}

TEST(MostGroupMembers, HaveRoomForAllPairsAndAllNeighbourhoods) {
    for (const int n : {1, 2, 62, 1000}) {
        EXPECT_GE(most_group_members(n), std::int64_t{n} * (n - 1));
        EXPECT_GE(most_group_members(n), std::int64_t{n} * n);
    }
}

}  // namespace
}  // namespace sotto
