#include "privacy/normal_tails.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace sotto {
namespace {

TEST(NormalTails, AreRightFarOut) {
    EXPECT_NEAR(normal_tail_point(0.15865525393145705), 1, 1e-12);
    EXPECT_NEAR(log_normal_above(-3), std::log(normal_above(-3)), 1e-15);
    EXPECT_NEAR(log_normal_above(10), std::log(7.619853024160526e-24), 1e-11);
    // 1 - Phi(z) is between phi(z) (1/z - 1/z^3) and phi(z)/z.
    const double z = 1e6, log_density = -0.5 * z * z - 0.5 * std::log(2 * 3.14159265358979323846);
    EXPECT_NEAR(log_normal_above(z), log_density - std::log(z), 1e-3);
    EXPECT_NEAR(std::exp(log_normal_between(-1, 2)), normal_above(-1) - normal_above(2), 1e-14);
    EXPECT_NEAR(std::exp(log_normal_between(7, 8)), normal_above(7) - normal_above(8), 1e-22);
    EXPECT_NEAR(mills_difference(3, 1e-9), 1e-9 * (1 - 3 * mills_ratio(3)), 1e-18);
    EXPECT_NEAR(mills_difference(3, 0.4), mills_ratio(3) - mills_ratio(3.4), 1e-14);
}

}  // namespace
}  // namespace sotto
