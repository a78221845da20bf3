#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/config.hpp"
#include "sotto/plan/noise_plan.hpp"
#include "sotto/privacy/privacy_loss.hpp"

namespace sotto {

/// Names of --noise-schedule besides a file.
inline constexpr std::string_view constant_noise = "constant", automatic_noise = "auto";

/// Largest ratio of the noise of two rounds, in standard deviations.
inline constexpr double most_uneven_noise = 32;
/// Sizes of noise with secretly sampled rounds, which are accounted size by size.
inline constexpr int most_noise_levels = 8;

/// w_t of every round: the squared factor with which noise of round t moves the model that is
/// returned, as steps, l2, momentum and averages of models make it (docs/equations.md
/// #noise-that-changes-over-rounds). Mixing leaves the mean of all models as it is. Depends on
/// options alone. @param l2 of the objective.
[[nodiscard]] std::vector<double> noise_weights(const PlanConfig& config, double l2);

/// The relative standard deviations that leave least: w_t^(-1/4), at most most_uneven_noise times
/// the smallest. @param weights not negative, at least one above 0.
[[nodiscard]] std::vector<double> best_noise(const std::vector<double>& weights);

/// sum_t w_t s_t^2 of noise s_t proportional to `relative`, over that of equal noise with the same
/// sum_t 1/s_t^2.
[[nodiscard]] double share_left(const std::vector<double>& weights,
                                const std::vector<double>& relative);

/// The same noise with at most `levels` sizes, each of about as many rounds, unless it has as few
/// sizes itself; sum 1/s^2 is kept.
[[nodiscard]] std::vector<double> with_levels(const std::vector<double>& relative, int levels);

/// What --noise-schedule says of the run's rounds. @param l2 of the objective.
/// @throws ConfigError where rounds with different noise are not possible, naming what is;
/// DataError for a file without one number above 0 for every round, or with noise more uneven than
/// most_uneven_noise, naming line and value.
[[nodiscard]] ScheduledNoise round_noise_of(const PlanConfig& config, double l2);

/// The diagonal C_time of the configured rounds, those from config.steps.first_round on, with sum
/// d_t^2 = rounds: together they reveal as much as rounds with equal noise. The identity if all are
/// alike. @throws Error if round_noise has another number of rounds.
[[nodiscard]] TemporalFactor scheduled_factor(const PlanConfig& config);

/// The plan with noise z_t / d_t, on a grid for its quietest round. @throws PrivacyError if noise
/// is too uneven for any grid.
[[nodiscard]] NoisePlan with_schedule(NoisePlan plan, TemporalFactor factor);

/// @throws PrivacyError unless the plan's temporal factor is that of the configuration, for
/// mechanisms whose rounds are independent.
void require_asked_schedule(const NoisePlan& plan, const PlanConfig& config);

/// "auto: noise 0.71 to 2.3 times that of equal rounds, ..."; empty if all rounds are alike.
[[nodiscard]] std::string schedule_text(const PlanConfig& config);

}  // namespace sotto
