#include "privacy/local_precision.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "privacy/pair_fixtures.hpp"
#include "privacy/privacy_fixtures.hpp"
#include "sotto/privacy/accountant.hpp"

namespace sotto {
namespace {

using namespace test;

/// Every bound of every agent contains the dense value, and the upper one is at most `above` above.
/// Where some agent can be left without any noise, which no plan that protects does, others' upper
/// bounds may be infinite too.
void expect_bounds(const NoisePlan& plan, int size, double above) {
    const auto noise = PairwiseNoise::of(plan);
    ASSERT_TRUE(noise);
    const GroundCosts costs(*noise, size);
    LocalFlow flow(*noise, costs);
    const Eigen::VectorXd dense = coalition_precision(plan, size) * plan.scale * plan.scale;
    constexpr double of_dense = 1e-9;
    for (int u = 0; u < plan.agents; ++u) {
        const LocalPrecision found = local_precision(*noise, flow, u, size, {});
        SCOPED_TRACE("agent " + std::to_string(u) + " of " + std::to_string(plan.agents));
        EXPECT_GE(found.upper, (1 - of_dense) * dense(u));
        EXPECT_LE(found.lower, (1 + of_dense) * dense(u));
        if (dense.allFinite()) {
            EXPECT_LE(found.upper, (1 + above) * dense(u));
        }
        EXPECT_EQ(std::ssize(found.coalition), size);
    }
}

TEST(LocalPrecision, IsAtMostATenthOfAPerCentAboveTheDenseOne) {
    constexpr double above = 1e-3;
    expect_bounds(random_pairs(400, 10, 0.5, 1), 0, above);
    expect_bounds(random_pairs(400, 10, 0.5, 2), 1, above);
    expect_bounds(random_pairs(200, 5, 0.4, 3), 1, above);
    expect_bounds(random_pairs(200, 8, 0.2, 3), 1, above);
    expect_bounds(random_pairs(60, 4, 0, 4), 2, above);
    // Where many pairs of agents are about as near, some are bounded and not tried.
    constexpr double of_two_that_are_many = 2e-2;
    expect_bounds(random_pairs(30, 12, 0.5, 5), 2, of_two_that_are_many);
}

TEST(LocalPrecision, OfFewAgentsAndOfAgentsWithFewNeighbours) {
    constexpr double above = 1e-3;
    expect_bounds(random_pairs(1, 0, 0, 1), 0, above);
    expect_bounds(random_pairs(2, 1, 0, 2), 1, above);
    expect_bounds(random_pairs(12, 0, 0, 3), 2, above);  // nobody shares
    for (const std::uint64_t seed : {4U, 5U, 6U}) {
        expect_bounds(random_pairs(40, 1.5, 0, seed), 1, above);
        expect_bounds(random_pairs(40, 1.5, 0, seed), 2, above);
        expect_bounds(random_pairs(40, 1.5, 0.3, seed), 1, above);
    }
}

TEST(LocalPrecision, OfAnAgentAloneIsThatOfItsOwnNoise) {
    NoisePlan plan = blank_plan(3);
    add_stream(plan, {0}, {2});
    add_stream(plan, {1}, {1});
    add_stream(plan, {2}, {1});
    add_stream(plan, {1, 2}, {1, -1});
    const auto noise = PairwiseNoise::of(plan);
    ASSERT_TRUE(noise);
    const GroundCosts costs(*noise, 1);
    LocalFlow flow(*noise, costs);
    EXPECT_NEAR(local_precision(*noise, flow, 0, 1, {}).upper, 0.25, 1e-9);
    // Of two agents with s2 = 1 and b = 1: R = [2 -1; -1 2].
    EXPECT_NEAR(local_precision(*noise, flow, 1, 0, {}).upper, 2.0 / 3, 1e-3);
    // Its neighbour leaves it s2.
    const LocalPrecision known = local_precision(*noise, flow, 1, 1, {});
    EXPECT_NEAR(known.upper, 1, 1e-9);
    EXPECT_EQ(known.coalition, std::vector<int>{2});
}

TEST(LocalPrecision, IsInfiniteWithoutNoiseOfItsOwn) {
    NoisePlan plan = blank_plan(3);
    add_stream(plan, {0}, {1});
    add_stream(plan, {0, 1}, {1, -1});
    const auto noise = PairwiseNoise::of(plan);
    ASSERT_TRUE(noise);
    const GroundCosts costs(*noise, 1);
    LocalFlow flow(*noise, costs);
    EXPECT_TRUE(std::isinf(local_precision(*noise, flow, 1, 1, {}).upper));
    EXPECT_TRUE(std::isinf(local_precision(*noise, flow, 2, 1, {}).upper));
    EXPECT_TRUE(std::isfinite(local_precision(*noise, flow, 0, 1, {}).upper));
}

TEST(GroundCosts, BoundTheInverseOfEveryCoalition) {
    const NoisePlan plan = random_pairs(14, 4, 0.3, 11);
    const auto noise = PairwiseNoise::of(plan);
    ASSERT_TRUE(noise);
    const GroundCosts costs(*noise, 1);
    for (int member = 0; member < plan.agents; ++member) {
        const Eigen::VectorXd precision =
            observed_precision(plan, {{member}}) * plan.scale * plan.scale;
        for (int u = 0; u < plan.agents; ++u) {
            if (u == member) continue;
            EXPECT_GE(costs.against_all(u), precision(u) * (1 - 1e-9));
        }
    }
}

}  // namespace
}  // namespace sotto
