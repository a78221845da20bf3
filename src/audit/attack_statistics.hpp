#pragma once

#include <Eigen/Dense>

namespace sotto {

/// What trials of one attack say. Every trial has a secret sign, and the attacker a score of it,
/// larger for +1; trials are independent and alike.
struct AttackFigures {
    long trials = 0;
    double mu = 0;     ///< (mean score of +1 - mean score of -1) / standard deviation
    double lower = 0;  ///< interval of mu at `level`, for Gaussian scores
    double upper = 0;
    /// epsilon >= this with confidence `level`, whatever the distribution.
    double epsilon_lower = 0;
};

/// @param scores, signs (+-1) one per trial.  @param delta in [0, 1).  @param level in (0, 1), e.g.
/// .99.
///
/// mu is that of N(+-mu/2, 1), whose interval mu +- z sqrt(1/n_+ + 1/n_- + mu^2 / (2 n)) holds for
/// many trials. epsilon_lower: a threshold is chosen on the first half of the trials; of the second
/// half count how often the score of -1 is above it (at most alpha, Clopper and Pearson) and that
/// of +1 is not (at most beta): epsilon >= log((1 - delta - alpha) / beta), and the same with alpha
/// and beta exchanged.
/// @throws ConfigError for sizes that do not fit, fewer than 20 trials of either sign in either
/// half, or values out of range. Cost O(n log n).
[[nodiscard]] AttackFigures measure_attack(const Eigen::VectorXd& scores,
                                           const Eigen::VectorXd& signs,
                                           double delta,
                                           double level);

/// Largest rate with which `hits` or fewer of `trials` still come up with probability `risk`
/// (Clopper and Pearson 1934). @param risk in (0, 1).
[[nodiscard]] double rate_at_most(long hits, long trials, double risk);

/// Trials after which the interval of mu at `level` is at most mu +- width mu, half of each sign:
/// (z / width)^2 (4 / mu^2 + 1/2). @param mu > 0.
[[nodiscard]] double trials_for_width(double mu, double width, double level);

}  // namespace sotto
