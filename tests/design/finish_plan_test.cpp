#include "design/finish_plan.hpp"

#include <gtest/gtest.h>

#include "core/test_support.hpp"
#include "design/mechanism_fixtures.hpp"
#include "sotto/core/error.hpp"
#include "sotto/privacy/accountant.hpp"

namespace sotto {
namespace {

using namespace test;

TEST(RelativeLimits, HaveTheSmallestKappaAsTheirUnit) {
    const RelativeLimits limits = relative_limits(Eigen::Vector3d(4, 0.5, 2));
    EXPECT_EQ(limits.unit, 0.5);
    EXPECT_EQ(limits.kappa, Eigen::VectorXd(Eigen::Vector3d(8, 1, 4)));
}

TEST(FinishPlan, RaisesTheScaleUntilTheBudgetIsMet) {
    const Setting setting = settings({6}).front();
    NoisePlan plan = design_of("corn", setting.input(10)).plan;
    const double scale = plan.scale;
    plan.scale *= 0.5;
    plan = finish_plan(plan, Eigen::VectorXd::Ones(6));
    EXPECT_TRUE(relatively_near(plan.scale, scale, 1e-9));
    // Up to rounding, which depends on the processor; verification forgives 1e-9.
    EXPECT_LE(observed_precision(plan, {}).maxCoeff() - 1, 1e-10);
    // More noise than necessary is left alone.
    plan.scale = 3 * scale;
    EXPECT_EQ(finish_plan(plan, Eigen::VectorXd::Ones(6)).scale, 3 * scale);
}

TEST(FinishPlan, RefusesNoiseThatDoesNotCoverEveryAgent) {
    NoisePlan plan = design_of("ldp", settings({6}).front().input(10)).plan;
    plan.rows[2].coefficients[0] = 0;
    EXPECT_TRUE(contains(
        message_of<PrivacyError>([&] { (void)finish_plan(plan, Eigen::VectorXd::Ones(6)); }),
        "does not cover every agent"));
}

TEST(CorrelateOverRounds, PaysForTheSensitivityOfTheFactorWithTheScale) {
    const Setting setting = settings({6}).front();
    DesignInput input = setting.input(10);
    input.rounds = 12;
    input.participation = {4};
    const NoisePlan plan = design_of("ldp", input).plan;
    Eigen::MatrixXd lower = Eigen::MatrixXd::Constant(12, 3, 0.7);
    lower.col(0).setConstant(3);
    lower.row(0).tail(2).setZero();
    lower(1, 2) = 0;
    const NoisePlan correlated =
        correlate_over_rounds(plan, input, {TemporalFactor::Kind::banded, lower});
    const double sensitivity =
        temporal_sensitivity_squared(correlated.temporal, input.participation, 12);
    EXPECT_GT(sensitivity, 2 * temporal_sensitivity_squared({}, input.participation, 12));
    // sens2 [R^-1]_uu = ceil(T / b) kappa_u.
    const Eigen::VectorXd spent = sensitivity * observed_precision(correlated, {});
    EXPECT_TRUE(spent.isApprox(Eigen::VectorXd::Constant(6, 3.0), 1e-9));
    // Given all other rounds the noise of one is 3 times quieter or more: two steps of 2.
    EXPECT_EQ(correlated.grid_step_log2, plan.grid_step_log2 - 2);
    EXPECT_EQ(correlate_over_rounds(plan, input, {}).hash(), plan.hash());
}

}  // namespace
}  // namespace sotto
