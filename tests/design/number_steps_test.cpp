#include "design/number_steps.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace sotto {
namespace {

using Eigen::VectorXd;

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
