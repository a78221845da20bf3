#include "design/block_steps.hpp"

#include <gtest/gtest.h>

#include "design/noise_fixtures.hpp"
#include "sotto/core/numbers.hpp"

namespace sotto {
namespace {

using namespace test;
using Eigen::MatrixXd;

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

}  // namespace
}  // namespace sotto
