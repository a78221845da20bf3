#include "privacy/sampled_bounds.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "privacy/round_moments.hpp"
#include "privacy/sampled_fixtures.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

TEST(SampledBounds, HoldOneRoundBetweenThem) {
    for (const double noise : {0.1, 0.5, 1.0, 4.0})
        for (const double probability : {1e-4, 0.01, 0.3}) {
            const SampledRounds round{noise, probability, 1};
            EXPECT_GE(delta_of_nothing({&round, 1}, {}),
                      delta_of_one_round(noise, probability, 0) * (1 - 1e-7));
            for (const double epsilon : {0.01, 0.5, 3.0}) {
                const double exact = delta_of_one_round(noise, probability, epsilon);
                EXPECT_LE(delta_of_tests({&round, 1}, epsilon), exact * (1 + 1e-7) + 1e-18);
                if (exact > 1e-12 && exact < 0.9) {
                    EXPECT_LE(epsilon_of_tests({&round, 1}, exact), epsilon * (1 + 1e-6));
                }
            }
        }
}

TEST(SampledBounds, SeeARecordThatShowsByItself) {
    const SampledRounds loud{0.01, 0.01, 100};
    const double seen = 1 - std::pow(0.99, 100);
    EXPECT_NEAR(delta_of_tests({&loud, 1}, 100), seen, 1e-9);
    EXPECT_GT(epsilon_of_tests({&loud, 1}, 0.9 * seen), 4000);
    EXPECT_EQ(epsilon_of_tests({&loud, 1}, 1.01 * seen), 0);
}

TEST(SampledBounds, AreMomentsInClosedFormToo) {
    // Whole tilts are binomial sums; quiet, loud and rare rounds.
    for (const auto& [noise, probability] :
         {std::pair{1.5, 0.2}, std::pair{0.2, 0.01}, std::pair{0.05, 1e-6}, std::pair{30.0, 0.5}})
        for (const int order : {2, 3, 5}) {
            double sum = 0, choose = 1;
            for (int k = 0; k <= order; ++k) {
                sum += choose * std::pow(1 - probability, order - k) * std::pow(probability, k) *
                       std::exp(0.5 * k * (k - 1) / (noise * noise));
                choose *= static_cast<double>(order - k) / (k + 1);
            }
            if (!std::isfinite(sum)) continue;
            const SampledRounds round{noise, probability, 1};
            const RoundMoments moments({&round, 1}, {}, 1e-290);
            const double exact = std::log(sum);
            if (order - 1 > moments.highest_tilt()) continue;
            EXPECT_NEAR(
                moments.log_moment(Direction::remove, order - 1), exact, 1e-10 + 1e-10 * exact);
            EXPECT_GE(moments.log_moment(Direction::remove, order - 1), exact * (1 - 1e-14));
        }
}

TEST(SampledBounds, ThatContradictEachOtherAreNeverAFigure) {
    const Certified both = agreed({3, 1}, {4, 2});
    EXPECT_EQ(both.upper, 3);
    EXPECT_EQ(both.lower, 2);
    EXPECT_THROW((void)agreed({25.08, 0}, {800, 645.3}), PrivacyError);
    EXPECT_THROW((void)agreed({0, 0}, {2000, 400}), PrivacyError);
    EXPECT_THROW((void)agreed({std::nan(""), 0}, {1, 0}), PrivacyError);
    EXPECT_THROW((void)agreed({1, 0}, {1, std::nan("")}), PrivacyError);
}

}  // namespace
}  // namespace sotto
