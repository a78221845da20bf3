#include "design/banded_factor.hpp"

#include <gtest/gtest.h>

#include "core/test_support.hpp"
#include "design/temporal_fixtures.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/linear_algebra.hpp"
#include "sotto/privacy/budget.hpp"
#include "sotto/privacy/temporal_sensitivity.hpp"

namespace sotto {
namespace {

using namespace test;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

TEST(BandedFactorOfManyRounds, IsAsGoodAsTheCertifiedOneOfFew) {
    for (const long restart : {0L, 16L})
        for (const long band : {1L, 3L, 6L}) {
            SCOPED_TRACE(testing::Message() << "band " << band << ", restart " << restart);
            const MixingMatrix mixing = mixing_of(MixingRule::metropolis);
            const ShapedFactor certified = shaped(mixing, 60, 7, banded_shape(band, restart));
            const SymmetricEigen eigen = symmetric_eigen(mixing.dense());
            const ShapedFactor found = solve_banded_factor(
                eigen.values, VectorXd::Ones(few_agents), falling_steps(60), 7, band, restart);
            EXPECT_TRUE(relatively_near(found.value, cost_of(mixing, found.factor, 60, 7), 1e-9));
            EXPECT_NEAR(temporal_sensitivity_squared(found.factor, {7}, 60), 9, 1e-9);
            EXPECT_GE(found.value, certified.lower_bound);
            EXPECT_LE(found.value, certified.value * 1.001);
        }
    EXPECT_THROW((void)solve_banded_factor(VectorXd::Ones(1), VectorXd::Ones(1), {}, 4, 4),
                 ConfigError);
}

}  // namespace
}  // namespace sotto
