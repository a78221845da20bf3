#include "design/descent.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sotto/core/numbers.hpp"

namespace sotto {
namespace {

using Eigen::VectorXd;

TEST(FindMinimum, FollowsACurvedValley) {
    const auto valley = [](const VectorXd& x, VectorXd& gradient) {
        const double off = x(1) - x(0) * x(0);
        gradient << -400 * x(0) * off - 2 * (1 - x(0)), 200 * off;
        return 100 * off * off + (1 - x(0)) * (1 - x(0));
    };
    DescentOptions options;
    options.max_steps = 200;
    options.least_decrease = 1e-12;
    const DescentPoint end = find_minimum(valley, VectorXd{{-1.2, 1}}, options);
    EXPECT_LT(end.value, 1e-10);
    EXPECT_NEAR(end.point(0), 1, 1e-4);
    options.max_steps = 3;
    EXPECT_GT(find_minimum(valley, VectorXd{{-1.2, 1}}, options).value, 0.1);
}

TEST(FindMinimum, StaysWhereFIsFinite) {
    // -log(1 - x) - 2 x falls towards 0.5 and is infinite from 1 on.
    const auto f = [](const VectorXd& x, VectorXd& gradient) {
        gradient(0) = 1 / (1 - x(0)) - 2;
        return x(0) < 1 ? -std::log(1 - x(0)) - 2 * x(0) : infinity;
    };
    DescentOptions options;
    options.first_length = 5;
    EXPECT_NEAR(find_minimum(f, VectorXd{{0}}, options).point(0), 0.5, 1e-4);
    const DescentPoint outside = find_minimum(f, VectorXd{{2}}, options);
    EXPECT_EQ(outside.value, infinity);
    EXPECT_EQ(outside.point(0), 2);
}

}  // namespace
}  // namespace sotto
