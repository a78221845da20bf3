#include "design/anderson_steps.hpp"

#include <gtest/gtest.h>

#include "design/noise_fixtures.hpp"

namespace sotto {
namespace {

using Eigen::VectorXd;

/// g(x) = x - A (x - c), A > 0 with eigenvalues up to 0.9.
struct SlowMap {
    Eigen::MatrixXd slope;
    VectorXd centre;

    [[nodiscard]] VectorXd operator()(const VectorXd& x) const { return x - slope * (x - centre); }
};

SlowMap slow_map() {
    Eigen::MatrixXd slope = test::random_positive_definite(5, 3);
    slope *= 0.9 / slope.trace();
    return {slope, VectorXd::LinSpaced(5, -1, 2)};
}

TEST(AndersonSteps, FindTheFixedPointOfALinearMapInAsManyStepsAsItHasDimensions) {
    const SlowMap map = slow_map();
    AndersonSteps steps(8);
    VectorXd fast = VectorXd::Zero(5), slow = fast;
    for (int i = 0; i < 7; ++i) {
        fast = steps.next(fast, map(fast));
        slow = map(slow);
    }
    EXPECT_LT((fast - map.centre).norm(), 1e-8);
    EXPECT_GT((slow - map.centre).norm(), 0.1);
}

TEST(AndersonSteps, GoToTheImageFirstAndAfterForgetting) {
    const SlowMap map = slow_map();
    AndersonSteps steps(2);
    const VectorXd start = VectorXd::Ones(5);
    EXPECT_EQ(steps.next(start, map(start)), map(start));
    const VectorXd second = map(start);
    EXPECT_NE(steps.next(second, map(second)), map(second));
    steps.forget();
    EXPECT_EQ(steps.next(start, map(start)), map(start));
}

}  // namespace
}  // namespace sotto
