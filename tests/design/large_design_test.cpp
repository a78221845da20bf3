#include "design/large_design.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "design/mechanism_fixtures.hpp"
#include "design/reference_objectives.hpp"
#include "privacy/large_plans.hpp"
#include "sotto/privacy/accountant.hpp"

namespace sotto {
namespace {

using namespace test;

constexpr int agents = most_dense_agents + 500;

Setting large_setting() {
    NamedGraph named{"torus", make_graph(Topology::torus, agents)};
    MixingMatrix mixing = MixingMatrix::from_rule(named.graph, MixingRule::metropolis);
    return {std::move(named), std::move(mixing)};
}

TEST(LargeDesign, OfPairsKeepsEveryLimitWithLessNoiseThanLdp) {
    const Setting setting = large_setting();
    DesignInput input = setting.input(100);
    input.kappa *= 0.25;
    input.coalition_size = 1;
    input.seed_groups = make_seed_groups("edges", setting.named.graph);
    ASSERT_TRUE(designs_locally(input));
    const Design design = design_of("pairs", input);
    EXPECT_LE(coalition_precision(design.plan, 1).maxCoeff(), 0.25 * (1 + 1e-9));
    EXPECT_GT(design.objective_error, 0);
    EXPECT_LT(design.objective_error, 0.05 * design.objective);
    EXPECT_LT(design.objective, 0.95 * independent_objective(input));
    EXPECT_GT(design.lower_bound, 0.85 * design.objective);
    EXPECT_LT(design.lower_bound, design.objective + 5 * design.objective_error);
    EXPECT_TRUE(std::isnan(design_of("corn-hbc", input).lower_bound));
}

TEST(LargeDesign, OfAlikeEdgesHasTwoVariances) {
    const Setting setting = large_setting();
    const DesignInput input = setting.input(100);
    const Design design = design_of("decor", input);
    EXPECT_LE(coalition_precision(design.plan, 0).maxCoeff(), 1 + 1e-9);
    EXPECT_LT(design.objective, independent_objective(input));
    EXPECT_TRUE(std::isnan(design.lower_bound));
    for (const NoiseRow& row : design.plan.rows)
        EXPECT_EQ(row.coefficients[0], design.plan.rows[0].coefficients[0]);
}

TEST(LargeDesign, RatesIndependentNoiseAsTheMatrixDoes) {
    const Setting setting = large_setting();
    const DesignInput input = setting.input(20);
    const Eigen::MatrixXd utility = design_utility(input);
    const Estimate estimate = large_independent_objective(input);
    EXPECT_NEAR(estimate.value, utility.trace(), 5 * estimate.standard_error);
    const Design design = design_of("ldp", input);
    EXPECT_EQ(design.objective, estimate.value);
    EXPECT_LE(coalition_precision(design.plan, 1).maxCoeff(), 1 + 1e-9);
}

TEST(LargeDesign, IsForSymmetricFixedMixingAndPairs) {
    const Setting setting = large_setting();
    DesignInput input = setting.input(10);
    EXPECT_TRUE(designs_locally(input));
    input.seed_groups = {{{0, 1, 2}}};
    EXPECT_FALSE(designs_locally(input));
    const Setting small = settings({10}).front();
    EXPECT_FALSE(designs_locally(small.input(10)));
}

}  // namespace
}  // namespace sotto
