#include "sotto/plan/noise_grid.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "plan/plan_fixtures.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

/// Agent 0's noise is `louder` times agent 1's; its own copy's, if any, `kept` times.
NoisePlan uneven_plan(double louder, double kept = 0) {
    NoisePlan plan;
    plan.mechanism = "uneven";
    plan.agents = 2;
    plan.scale = 0.5;
    plan.groups = {{{0}}, {{1}}};
    plan.streams = {{0, 0, StreamDistribution::gaussian}, {1, 0, StreamDistribution::gaussian}};
    if (kept > 0) plan.rows.push_back({0, 0, {0}, {kept}});
    plan.rows.push_back({0, kept > 0 ? 1 : NoiseRow::all_receivers, {0}, {louder}});
    plan.rows.push_back({1, NoiseRow::all_receivers, {1}, {1}});
    return plan;
}

TEST(NoiseGrid, FollowsTheLoudestNoiseThatIsAdded) {
    EXPECT_EQ(largest_deviation(uneven_plan(4)), 2);
    EXPECT_EQ(largest_deviation(uneven_plan(4, 16)), 8);
    EXPECT_EQ(finest_grid_step(uneven_plan(4)), 0x1p-45);
    NoisePlan laplace = uneven_plan(4);
    for (auto& stream : laplace.streams) stream.distribution = StreamDistribution::laplace;
    EXPECT_DOUBLE_EQ(largest_deviation(laplace), 2 * std::sqrt(2.0));
    EXPECT_DOUBLE_EQ(finest_grid_step(laplace), 2 * std::sqrt(2.0) * 0x1p-43);
    EXPECT_EQ(largest_deviation(NoisePlan{}), 0);
}

TEST(NoiseGrid, NoPlanHasAFinerOneWhereverItsNoiseEnters) {
    for (const NoiseEntry entry : {NoiseEntry::gradient, NoiseEntry::message})
        for (const double kept : {0.0, 4096.0}) {
            NoisePlan plan = uneven_plan(4096, kept);
            plan.entry = entry;
            plan.grid_step_log2 = -35;
            EXPECT_NO_THROW(plan.validate());
            plan.grid_step_log2 = -36;
            EXPECT_THROW(plan.validate(), PrivacyError);
        }
}

}  // namespace
}  // namespace sotto
