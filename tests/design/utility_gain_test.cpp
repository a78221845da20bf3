#include "design/utility_gain.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace sotto {
namespace {

const Utility final_utility{Utility::Kind::final_model, 0};

TEST(UtilityGain, SumsSquaredResponses) {
    const UtilityGain trajectory({Utility::Kind::trajectory, 0}, 3, 2, {});
    EXPECT_NEAR(
        trajectory.at(0.9), 3 * std::pow(0.9, 4) + 2 * std::pow(0.9, 8) + std::pow(0.9, 12), 1e-14);
    EXPECT_EQ(trajectory.at(0), 0);
    const UtilityGain one_step({Utility::Kind::one_step, 1}, 100, 1, {});
    EXPECT_NEAR(one_step.at(-0.5), 0.25, 1e-16);
}

TEST(UtilityGain, CountsMeansAndFinalGossipForTheFinalModelsOnly) {
    Smoothing smoothing;
    smoothing.tail_rounds = 2;
    smoothing.final_gossip = 3;
    // g_1 = p / 2, g_2 = (p + p^2) / 2, each times p^3.
    const double p = 0.8, g1 = p / 2, g2 = (p + p * p) / 2;
    EXPECT_NEAR(UtilityGain(final_utility, 2, 1, smoothing).at(p),
                (g1 * g1 + g2 * g2) * std::pow(p, 6),
                1e-14);
    for (const Utility& other :
         {Utility{Utility::Kind::horizon, 2}, Utility{Utility::Kind::trajectory, 0}})
        EXPECT_EQ(UtilityGain(other, 2, 1, smoothing).at(p), UtilityGain(other, 2, 1, {}).at(p));
}

TEST(UtilityGain, CountsMomentumAlways) {
    Smoothing smoothing;
    smoothing.momentum = 0.5;
    // h_1 = p, h_2 = p^2 + B p.
    const double p = 0.8;
    EXPECT_NEAR(UtilityGain({Utility::Kind::horizon, 2}, 9, 1, smoothing).at(p),
                p * p + std::pow(p * p + 0.5 * p, 2),
                1e-14);
}

TEST(UtilityGain, KnowsItsDerivative) {
    Smoothing smoothing;
    smoothing.momentum = 0.7;
    smoothing.decay = 0.9;
    smoothing.final_gossip = GossipPolynomial::chebyshev(3, 0.9);
    const UtilityGain gain(final_utility, 30, GossipPolynomial::chebyshev(2, 0.9), smoothing);
    for (const double x : {-0.8, 0.3, 0.95}) {
        const double difference = (gain.at(x + 1e-6) - gain.at(x - 1e-6)) / 2e-6;
        EXPECT_NEAR(gain.derivative_at(x), difference, 1e-6 * std::max(1.0, std::abs(difference)));
    }
}

}  // namespace
}  // namespace sotto
