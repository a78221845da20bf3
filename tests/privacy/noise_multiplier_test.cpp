#include "privacy/noise_multiplier.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <tuple>
#include <vector>

#include "core/numbers.hpp"
#include "sotto/core/error.hpp"
#include "sotto/privacy/privacy_loss.hpp"

namespace sotto {
namespace {

double epsilon_with(double noise,
                    const std::vector<SampledPhase>& phases,
                    const PrivacyLoss& beside) {
    std::vector<SampledRounds> rounds;
    for (const SampledPhase& one : phases)
        rounds.push_back(
            {noise * one.relative_noise, one.sampling_probability, one.count, one.rounds_an_epoch});
    return compose(beside, PrivacyLoss::sampled(rounds)).epsilon(1e-5).upper;
}

TEST(NoiseMultiplier, MeetsTheBudgetAndHardlyMoreNoiseThanThat) {
    for (const PrivacyLoss& beside : {PrivacyLoss(), PrivacyLoss::gaussian(0.1)})
        for (const double epsilon : {1.0, 8.0}) {
            const std::vector<SampledPhase> phases{{0.05, 100}, {0.01, 400}};
            const double noise = noise_multiplier_for(epsilon, 1e-5, phases, beside);
            EXPECT_LE(epsilon_with(noise, phases, beside), epsilon);
            EXPECT_GT(epsilon_with(noise * 0.999, phases, beside), epsilon);
        }
}

TEST(NoiseMultiplier, OfRoundsWithDifferentNoiseIsThatOfTheirSmallestFactor) {
    const std::vector<SampledPhase> phases{
        {.sampling_probability = 0.05, .count = 60, .relative_noise = 1},
        {.sampling_probability = 0.05, .count = 40, .relative_noise = 3}};
    const double noise = noise_multiplier_for(2, 1e-5, phases);
    EXPECT_LE(epsilon_with(noise, phases, {}), 2);
    EXPECT_GT(epsilon_with(noise * 0.999, phases, {}), 2);
    const std::vector<SampledPhase> equal{{0.05, 100}};
    EXPECT_LT(noise, noise_multiplier_for(2, 1e-5, equal));
}

TEST(NoiseMultiplier, OfRandomAllocationMeetsTheBudgetAndIsNeverBelowTheLeast) {
    const std::vector<SampledPhase> phases{{0.05, 10, 20}};
    const double noise = noise_multiplier_for(2, 1e-5, phases);
    EXPECT_LE(epsilon_with(noise, phases, {}), 2);
    EXPECT_GT(epsilon_with(noise * 0.999, phases, {}), 2);
    EXPECT_LT(noise, 0.97 * noise_multiplier_for(2, 1e-5, std::vector<SampledPhase>{{0.05, 200}}));
    const std::vector<SampledPhase> rare{{1e-6, 1, 1'000'000}};
    EXPECT_GE(noise_multiplier_for(1000, 1e-5, rare), least_allocated_noise);
}

TEST(NoiseMultiplier, OfRoundsThatAreAlwaysThereIsThatOfTheGaussianCurve) {
    const SampledPhase phase{1, 400};
    EXPECT_NEAR(noise_multiplier_for(3, 1e-5, {&phase, 1}), 20 / gdp_mu(3, 1e-5), 1e-3);
}

TEST(NoiseMultiplier, IsFoundWhereRoundsAreRareOrTheBudgetIsLarge) {
    for (const auto& [epsilon, probability, count, enough] :
         {std::tuple{0.5, 1e-4, 1000L, 0.5047},
          std::tuple{0.01, 1e-5, 100L, 0.4525},
          std::tuple{300.0, 0.01, 100L, 0.1082},
          std::tuple{1000.0, 0.05, 200L, 0.1096}}) {
        const std::vector<SampledPhase> phase{{probability, count}};
        const double noise = noise_multiplier_for(epsilon, 1e-5, phase);
        EXPECT_NEAR(noise, enough, 1e-3 * enough);
        EXPECT_LE(epsilon_with(noise, phase, {}), epsilon);
    }
}

TEST(NoiseMultiplier, IsNeverNothingWhereSomethingIsRevealed) {
    // delta covers that the record is ever sampled: no noise would be needed.
    const SampledPhase phase{1e-8, 10};
    EXPECT_EQ(noise_multiplier_for(1, 1e-5, {&phase, 1}), 1e-3);
}

TEST(NoiseMultiplier, OfNothingIsNothing) {
    const std::vector<SampledPhase> nothing{{0, 10}, {0.5, 0}};
    EXPECT_EQ(noise_multiplier_for(1, 1e-5, nothing), 0);
}

TEST(NoiseMultiplier, RefusesWhatCannotBeAsked) {
    const SampledPhase phase{0.1, 10};
    for (const double epsilon : {0.0, -1.0, not_a_number, 1e5})
        EXPECT_THROW((void)noise_multiplier_for(epsilon, 1e-5, {&phase, 1}), ConfigError);
    for (const double delta : {0.0, 1.0, not_a_number, 1e-40})
        EXPECT_THROW((void)noise_multiplier_for(1, delta, {&phase, 1}), ConfigError);
    EXPECT_THROW((void)noise_multiplier_for(1, 1e-5, {&phase, 1}, PrivacyLoss::gaussian(2)),
                 PrivacyError);
}

}  // namespace
}  // namespace sotto
