#include "design/one_lag_factor.hpp"

#include <gtest/gtest.h>

#include "core/test_support.hpp"
#include "design/temporal_fixtures.hpp"
#include "sotto/core/error.hpp"
#include "sotto/privacy/budget.hpp"

namespace sotto {
namespace {

using namespace test;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

TEST(OneLagFactor, HasTheBestNumberAtItsOwnSensitivity) {
    for (const MixingRule rule : {MixingRule::metropolis, MixingRule::row_stochastic})
        for (const long restart : {0L, 8L}) {
            const MixingMatrix mixing = mixing_of(rule);
            const ShapedFactor found =
                shaped(mixing, 30, 6, {TemporalShape::Kind::one_lag, 0, restart});
            EXPECT_TRUE(relatively_near(cost_of(mixing, found.factor, 30, 6), found.value, 1e-10));
            EXPECT_GT(-found.factor.lower(1, 1), 0.1);
            for (double rho = 0; rho <= 1; rho += 1.0 / 64) {
                TemporalFactor other = found.factor;
                for (Index t = 0; t < 30; ++t)
                    if (other.lower(t, 1) != 0) other.lower(t, 1) = -rho;
                EXPECT_GE(cost_of(mixing, other, 30, 6), found.value * (1 - 1e-9)) << rho;
            }
        }
}

TEST(OneLagFactor, LeavesRoundsIndependentWhereNothingIsCorrelated) {
    // H diagonal: any correlation only adds.
    const ShapedFactor found = solve_one_lag_factor(VectorXd::Ones(9), VectorXd::Zero(9), 3, 0);
    EXPECT_NEAR(found.factor.lower.col(1).norm(), 0, 1e-6);
    EXPECT_NEAR(found.value, 9, 1e-9);
    EXPECT_TRUE(std::isnan(found.lower_bound));
}

}  // namespace
}  // namespace sotto
