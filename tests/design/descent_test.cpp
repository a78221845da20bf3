#include "design/descent.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "core/numbers.hpp"
#include "design/noise_fixtures.hpp"

namespace sotto {
namespace {

using Eigen::MatrixXd;
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

using namespace test;

TEST(Bought, SolvesItsStationaryEquation) {
    const MatrixXd s = random_positive_definite(4, 1), gain = random_positive_definite(4, 2);
    const MatrixXd cost = random_positive_definite(4, 3);
    const MatrixXd now = bought(s, gain, cost, 0), known = s * gain * s;
    EXPECT_LT((now * cost * now - known).norm(), 1e-9 * known.norm());
    const MatrixXd two = MatrixXd::Constant(1, 1, 2), three = MatrixXd::Constant(1, 1, 3);
    EXPECT_NEAR(bought(two, three, two, 0)(0, 0), 2 * std::sqrt(1.5), 1e-12);
    EXPECT_EQ(bought(s, gain, MatrixXd::Zero(4, 4), 0), s);
}

TEST(Bought, KeepsAShareInEveryDirection) {
    const MatrixXd cost = MatrixXd::Identity(2, 2);
    MatrixXd s = cost;
    s(1, 1) = 0;
    EXPECT_GT(bought(s, cost, cost, 1e-4)(1, 1), 0.009);
}

TEST(LargestRatio, IsThatOfTheDirectionWhereTheGainIsLargest) {
    MatrixXd gain = MatrixXd::Identity(2, 2), cost = gain;
    gain(1, 1) = 6;
    cost(1, 1) = 2;
    EXPECT_NEAR(largest_ratio(gain, cost), 3, 1e-12);
    EXPECT_EQ(largest_ratio(gain, MatrixXd::Zero(2, 2)), infinity);
}

TEST(NumberSteps, AreRootsWithoutHaste) {
    NumberSteps steps;
    VectorXd numbers{{1, 2, 3}};
    for (int i = 0; i < 5; ++i) steps.take(VectorXd{{1.21, 1, 0.81}}, 0, numbers);
    EXPECT_NEAR(numbers(0), std::pow(1.1, 5), 1e-12);
    EXPECT_NEAR(numbers(1), 2, 1e-12);
    EXPECT_NEAR(numbers(2), 3 * std::pow(0.9, 5), 1e-12);
}

TEST(NumberSteps, GrowWhileANumberGoesOneWay) {
    NumberSteps steps;
    VectorXd number{{1}};
    double power = 0.5, expected = 1;
    const auto step = [&](double earned) {
        steps.take(VectorXd{{earned}}, 1, number);
        expected *= std::pow(earned, power);
        EXPECT_NEAR(number(0), expected, 1e-12 * expected);
    };
    step(1.1);
    for (int i = 0; i < 15; ++i) {
        power = std::min(8., 1.3 * power);
        step(1.1);
    }
    EXPECT_EQ(power, 8);
    power = 0.5;
    step(0.9);
}

TEST(NumberSteps, AreNeverTooLong) {
    NumberSteps hasty, calm;
    VectorXd fast{{1, 1}}, slow = fast;
    hasty.take(VectorXd{{1e6, 0}}, 1, fast);
    calm.take(VectorXd{{1e6, 0}}, 0, slow);
    EXPECT_EQ(fast, VectorXd({{4, 0.25}}));
    EXPECT_EQ(slow, VectorXd({{2, 0.5}}));
}

TEST(NumberSteps, FindAnOptimum) {
    // min sum a / s + s: e = a / s^2.
    const VectorXd a{{0.01, 1, 400}};
    NumberSteps steps;
    VectorXd numbers = VectorXd::Ones(3);
    for (int i = 0; i < 60; ++i) steps.take(a.cwiseQuotient(numbers.cwiseAbs2()), 0, numbers);
    EXPECT_LT((numbers - a.cwiseSqrt()).norm(), 1e-6);
}

}  // namespace
}  // namespace sotto
