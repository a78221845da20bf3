#include "privacy/round_moments.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace sotto {
namespace {

TEST(RoundMoments, OfTwoAreABinomialSum) {
    // E_P (P/Q) = E_Q (P/Q)^2 = 1 + q^2 (e^(1/s^2) - 1).
    const SampledRounds rounds{1.5, 0.2, 7};
    const RoundMoments moments({&rounds, 1}, {}, 1e-30);
    const double one = std::log1p(0.04 * std::expm1(1 / 2.25));
    EXPECT_NEAR(moments.log_moment(Direction::remove, 1), 7 * one, 1e-10);
    const RoundMoments more({&rounds, 1}, {0.5, 0}, 1e-30);
    EXPECT_NEAR(more.log_moment(Direction::remove, 1), 7 * one + 0.5, 1e-10);
}

TEST(RoundMoments, GiveAnUpperBoundOfEpsilonThatIsNotFar) {
    const SampledRounds rounds{1, 0.01, 1000};
    const RoundMoments moments({&rounds, 1}, {}, 1e-20);
    const TiltedEstimate epsilon = estimate_epsilon(moments, Direction::remove, 1e-5);
    EXPECT_GT(epsilon.value, 1.828);
    EXPECT_LT(epsilon.value, 2.2);
    const TiltedEstimate delta = estimate_log_delta(moments, Direction::remove, epsilon.value);
    EXPECT_NEAR(delta.value, std::log(1e-5), 1e-3);
}

}  // namespace
}  // namespace sotto
