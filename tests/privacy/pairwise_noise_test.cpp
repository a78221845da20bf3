#include "privacy/pairwise_noise.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "privacy/local_precision.hpp"
#include "privacy/pair_fixtures.hpp"
#include "privacy/privacy_fixtures.hpp"
#include "sotto/privacy/accountant.hpp"

namespace sotto {
namespace {

using namespace test;

TEST(PairwiseNoise, IsThatOfPairsOnly) {
    NoisePlan plan = blank_plan(3);
    add_stream(plan, {0, 1, 2}, {1, -1, 0});
    EXPECT_FALSE(PairwiseNoise::of(plan));  // the third holds the seed
    EXPECT_FALSE(PairwiseNoise::of(shared_seed_plan(4)));
    NoisePlan laplace = private_plan({1, 1});
    for (auto& stream : laplace.streams) stream.distribution = StreamDistribution::laplace;
    EXPECT_FALSE(PairwiseNoise::of(laplace));
}

TEST(PairwiseNoise, WithoutACoalitionHasNoiseOfOthersOnly) {
    const NoisePlan plan = random_pairs(30, 6, 0.2, 9);
    const auto noise = PairwiseNoise::of(plan);
    ASSERT_TRUE(noise);
    const std::vector<int> coalition{3, 17};
    const PairwiseNoise left = noise->without(coalition);
    const GroundCosts costs(left, 0);
    LocalFlow flow(left, costs);
    const Eigen::VectorXd dense = observed_precision(plan, {coalition}) * plan.scale * plan.scale;
    for (int u = 0; u < plan.agents; ++u) {
        const double upper = local_precision(left, flow, u, 0, {}).upper;
        if (std::isinf(dense(u))) {
            EXPECT_TRUE(std::isinf(upper)) << u;
        } else {
            EXPECT_NEAR(upper, dense(u), 1e-3 * dense(u)) << u;
        }
    }
}

}  // namespace
}  // namespace sotto
