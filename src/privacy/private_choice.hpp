#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "sotto/privacy/privacy_loss.hpp"

namespace sotto {

/// The number of trainings of a private choice: a truncated negative binomial distribution
/// (Papernot, Steinke 2022, Definition 1) on k = 1, 2, 3, ... with
///
///     P(k) = (1 - g)^k / (g^-eta - 1) * prod_{l < k} (l + eta) / (l + 1),
///     mean = eta (1 - g) / (g (1 - g^eta));
///
/// eta = 1 is geometric, eta = 0 its limit, the logarithmic distribution: (1 - g)^k / (k log(1/g)).
struct TrainingCount {
    double mean = 1;   ///< expected number of trainings, from 1 to 1e4
    double shape = 1;  ///< eta in (-1, 10]
};

/// g in (0, 1] of this mean. Accurate to 1e-12 relative. @throws ConfigError outside these ranges.
[[nodiscard]] double stop_parameter(const TrainingCount& count);
/// 1 - f(1 - v), with f the generating function of the number of trainings: the probability that at
/// least one of them ends in an event of probability v. Accurate for small v.
[[nodiscard]] double reached(const TrainingCount& count, double probability);
/// The number of trainings by inversion of the distribution. @param uniform in [0, 1), secret.
[[nodiscard]] long draw_trainings(const TrainingCount& count, double uniform);

/// log r with r the smallest ratio that satisfies r >= 1 + (1/g - 1) delta(log r): on neighbouring
/// inputs, the ratios of densities of the choice and of one training differ by a factor of at most
/// r^(1 + eta) (docs/equations.md#private-choice).
/// @param delta_of privacy profile of one training, at epsilon >= 0, at most 1.
[[nodiscard]] double log_win_ratio(const TrainingCount& count,
                                   const std::function<double(double epsilon)>& delta_of);

/// What the choice of the best of a random number of trainings reveals (docs/equations.md
/// #private-choice).
struct ChoiceCost {
    /// Upper: the smaller of `by_profile` and `by_renyi`. Lower: no smaller epsilon holds for every
    /// score.
    Certified epsilon;
    double by_profile = 0;           ///< epsilon(delta / mean) of one training + (1 + eta) log r
    std::optional<double> by_renyi;  ///< from Renyi divergences (Papernot, Steinke 2022), where
                                     ///< losses are Gaussian or pure
    double one = 0;                  ///< epsilon of one training, the largest of all
    double added_up = 0;  ///< epsilon of all expected trainings if each is shown to somebody
    double delta = 0;
};

/// @param trainings losses of every training that can be drawn, with its score; at least one. The
/// training is drawn independently of the data, with fresh noise, every time.
/// @param delta in (0, 1). @throws ConfigError; PrivacyError if an upper and a lower bound
/// contradict each other. Cost: some 30 epsilons of each distinct loss.
[[nodiscard]] ChoiceCost choice_cost(std::span<const PrivacyLoss> trainings,
                                     const TrainingCount& count,
                                     double delta);

/// The largest epsilon of trainings with Gaussian losses whose choice costs at most `total`.
/// @param total > 0.
[[nodiscard]] double epsilon_of_one(double total, const TrainingCount& count, double delta);

}  // namespace sotto
