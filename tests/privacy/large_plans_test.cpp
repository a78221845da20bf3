#include "privacy/large_plans.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/linear_algebra.hpp"
#include "core/test_support.hpp"
#include "privacy/dropouts.hpp"
#include "privacy/privacy_fixtures.hpp"
#include "privacy/protection.hpp"
#include "sotto/core/error.hpp"
#include "sotto/privacy/accountant.hpp"

namespace sotto {
namespace {

using namespace test;

constexpr int many = most_dense_agents + 100;

/// A ring with chords: every agent shares noise with four others.
NoisePlan ring_plan(int agents, double scale = 1) {
    NoisePlan plan = blank_plan(agents, scale);
    for (int u = 0; u < agents; ++u) add_stream(plan, {u}, {u % 3 == 0 ? 0.9 : 0.4});
    for (const int step : {1, 37})
        for (int u = 0; u < agents; ++u) {
            const int v = (u + step) % agents;
            add_stream(plan, {std::min(u, v), std::max(u, v)}, {0.5, -0.5});
        }
    return plan;
}

TEST(LargePlans, AreAccountedForAsByTheInverse) {
    const NoisePlan plan = ring_plan(many, 1.3);
    ASSERT_TRUE(large_pairwise_noise(plan));
    Eigen::MatrixXd covariance = outer_product(unknown_coefficients(plan, {}));
    ASSERT_TRUE(invert_positive_definite(covariance));
    const Eigen::VectorXd exact = covariance.diagonal();
    const Eigen::VectorXd bounds = observed_precision(plan, {});
    EXPECT_GE((bounds - exact).minCoeff(), -1e-9);
    EXPECT_LE(bounds.cwiseQuotient(exact).maxCoeff(), 1.001);
    // A neighbour knows more, and a coalition more than both of its members.
    const Eigen::VectorXd one = coalition_precision(plan, 1), two = coalition_precision(plan, 2);
    EXPECT_GT((one - bounds).minCoeff(), 0);
    EXPECT_GT((two - one).minCoeff(), 0);
    const Eigen::VectorXd known = observed_precision(plan, {{5, 7}});
    EXPECT_TRUE(std::isinf(known(5)) && std::isinf(known(7)));
    EXPECT_GT(known(6), one(6) * 0.999);
    EXPECT_LE(known(6), two(6) * 1.001);
}

TEST(LargePlans, OfNoiseOfSingleAgentsAreExact) {
    NoisePlan plan = private_plan(std::vector<double>(50 * many, 0.5), 2);
    const Eigen::VectorXd precision = coalition_precision(plan, 1);
    EXPECT_NEAR(precision.minCoeff(), 1, 1e-12);
    EXPECT_NEAR(precision.maxCoeff(), 1, 1e-12);
}

TEST(LargePlans, AreBoundedAlikeWithAnyScaleAndThreads) {
    const Eigen::VectorXd once = coalition_precision(ring_plan(many, 1), 1);
    EXPECT_EQ(once / 4, coalition_precision(ring_plan(many, 2), 1));
    const PairwiseNoise noise = *PairwiseNoise::of(ring_plan(many));
    const std::vector<int> agents{3, 1000, 77};
    const auto found = local_precisions(noise, agents, 1, local_options(many));
    set_linear_algebra_threads(1);
    const auto alone = local_precisions(noise, agents, 1, local_options(many));
    set_linear_algebra_threads(2);
    for (std::size_t i = 0; i < agents.size(); ++i) {
        EXPECT_EQ(found[i].upper, alone[i].upper);
        EXPECT_EQ(found[i].upper, once(agents[i]));
    }
}

TEST(LargePlans, AreVerifiedForTheGivenAgentsOnly) {
    NoisePlan plan = ring_plan(many);
    plan.rows[500].coefficients[0] = 0.01;  // agent 500 has hardly any noise of its own
    const std::vector<Exposure> exposures(many, Exposure{1, 1, 1});
    const Eigen::VectorXd precision = coalition_precision(plan, 1);
    plan.grid_step_log2 = static_cast<int>(std::floor(-0.5 * std::log2(precision.maxCoeff()))) - 20;
    std::vector<PrivacyBudget> budgets(many, make_budget(7, 1e-5, Calibration::exact));
    for (PrivacyBudget& budget : budgets)
        budget.limit = PrivacyLoss::gaussian(std::sqrt(1.01 * precision(7)));
    const std::vector<int> safe{7, 1300}, unsafe{7, 500};
    EXPECT_NO_THROW(verify_agents_protected(plan, safe, exposures, budgets, 1));
    EXPECT_TRUE(contains(message_of<PrivacyError>(
                             [&] { verify_agents_protected(plan, unsafe, exposures, budgets, 1); }),
                         "agent 500"));
}

TEST(LargePlans, NameTheWorstCuriousAgent) {
    NoisePlan plan = ring_plan(many);
    plan.rows[500].coefficients[0] = 0.01;
    const std::vector<Exposure> exposures(many, Exposure{1, 1, 1});
    const auto worst = worst_curious_agent(plan, exposures, 1e-5);
    ASSERT_TRUE(worst);
    EXPECT_EQ(worst->target, 500);
    const std::vector<int> partners{463, 499, 501, 537};
    EXPECT_TRUE(std::ranges::find(partners, worst->observer) != partners.end()) << worst->observer;
}

}  // namespace
}  // namespace sotto
