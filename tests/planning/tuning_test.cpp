#include "planning/tuning.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "core/numbers.hpp"

namespace sotto {
namespace {

/// Noise of Gaussian rounds without sampling, so that more records in a batch always help.
TuningCase plain_case(double records, double mu, double noise_ratio) {
    TuningCase tuning;
    tuning.records = tuning.all_records = records;
    tuning.mu = mu;
    tuning.noise_ratio = noise_ratio;
    tuning.noise = [=](double share, long rounds) {
        return noise_ratio * std::sqrt(static_cast<double>(rounds)) / (mu * share * records);
    };
    return tuning;
}

TEST(Tuning, RoundsGrowWithWhatTheBudgetAllows) {
    EXPECT_EQ(tuned_rounds(plain_case(100, 0.1, 1)), 200);
    EXPECT_EQ(tuned_rounds(plain_case(20000, 0.25, 1)), 300);
    EXPECT_EQ(tuned_rounds(plain_case(20000, 0.25, 3)), 200);
    EXPECT_EQ(tuned_rounds(plain_case(1e7, 1, 1)), 1000);
    EXPECT_EQ(tuned_rounds(plain_case(1e7, infinity, 1)), 1000);
}

TEST(Tuning, SharesAreTheSmallestThatAreQuietEnough) {
    // So much budget that even few records are quiet: at least 256 of them.
    EXPECT_EQ(tuned_share(plain_case(10000, 100, 1), 200), .05);
    EXPECT_EQ(tuned_share(plain_case(1e6, 100, 1), 200), .01);
    // Where noise matters, all records count.
    EXPECT_EQ(tuned_share(plain_case(1000, 0.1, 1), 200), 1);
    // At least a fifth of a few records.
    EXPECT_EQ(tuned_share(plain_case(100, 1e6, 1), 200), .2);
}

TEST(Tuning, StepsAreNaturalUntilTheirNoiseCounts) {
    const TunedStep quiet = tuned_step({.norm = 2, .rounds = 300});
    EXPECT_EQ(quiet.clip_norm, 1);
    EXPECT_EQ(quiet.step_size, 20);  // 20 / C^2
    const StepCase noisy{.norm = 2, .noise = 0.1, .rounds = 400, .dimension = 1000};
    const TunedStep loud = tuned_step(noisy);
    EXPECT_DOUBLE_EQ(loud.step_size, 0.7 / (0.1 * 20));  // .7 / (s sqrt T) / C^2
    StepCase other = noisy;
    // Few coordinates: their noise is small whatever the curvature, at steps that are stable.
    other.dimension = 3;
    EXPECT_DOUBLE_EQ(tuned_step(other).step_size, 4 * 3 / 4.0);
    other.dimension = 6;
    other.noise = 0.05;
    EXPECT_DOUBLE_EQ(tuned_step(other).step_size, 20 / 4.0);
    other.noise = 0.4;
    EXPECT_DOUBLE_EQ(tuned_step(other).step_size, 0.2 / (6 * 0.4 * 0.4));
    // Steps that would train nothing tell classes apart no better.
    other.noise = 10;
    EXPECT_DOUBLE_EQ(tuned_step(other).step_size, 0.65 / 4);
    other.values = true;
    EXPECT_DOUBLE_EQ(tuned_step(other).step_size, 0.7 / (10 * 20));
    other = noisy;
    other.momentum = 0.5;
    EXPECT_DOUBLE_EQ(tuned_step(other).step_size, loud.step_size / 2);
    other.differing_records = true;
    EXPECT_DOUBLE_EQ(tuned_step(other).step_size, loud.step_size / 4);
    other.values_in_bounds = true;
    EXPECT_DOUBLE_EQ(tuned_step(other).step_size, loud.step_size / 40);
    EXPECT_EQ(tuned_step(other).clip_norm, loud.clip_norm);
    // A clip that is given changes the noise of a step, not the natural step.
    other = noisy;
    other.clip_norm = 0.5;
    const TunedStep given = tuned_step(other);
    EXPECT_EQ(given.clip_norm, 0.5);
    EXPECT_DOUBLE_EQ(given.step_size, 2 * loud.step_size);
    other.noise = 0;
    EXPECT_EQ(tuned_step(other).step_size, 20);
}

}  // namespace
}  // namespace sotto
