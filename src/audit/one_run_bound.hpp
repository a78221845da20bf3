#pragma once

#include <Eigen/Dense>

namespace sotto {

/// How likely an (epsilon, delta) private mechanism is to let anybody guess so well, at most. There
/// are `trials` records, each in the data or not by a fair coin of its own; the attacker guesses
/// `guesses` of these coins, the same number whatever comes out, and abstains from the others.
/// Steinke, Nasr, Jagielski 2023, Theorem 5.2: with X ~ Binomial(guesses, e^epsilon / (e^epsilon +
/// 1)),
///
///     P[at least v are correct] <= P[X >= v] + 2 delta trials max_{i >= 1} P[v - i <= X < v] / i.
///
/// @throws ConfigError unless 0 <= correct <= guesses <= trials, epsilon >= 0, 0 <= delta < 1.
/// Cost O(correct).
[[nodiscard]] double one_run_p_value(
    long trials, long guesses, long correct, double epsilon, double delta);

/// The largest epsilon >= 0 that a p-value of at most `risk` excludes; 0 if there is none. Whatever
/// is private with less would be guessed so well with probability `risk` at most.
/// @param risk in (0, 1).
[[nodiscard]] double one_run_epsilon(
    long trials, long guesses, long correct, double delta, double risk);

/// What guesses by scores came to.
struct OneRunFigures {
    long guesses = 0, correct = 0;
    double epsilon_lower = 0;
};
/// The best bound of ten ways to guess: the 1, 2.5, 5, 10 or 25% of all trials with the largest
/// scores are taken for +1, and as many with the smallest scores for -1, or none. Each has a tenth
/// of the risk.
/// @param scores, signs (+-1) one per trial; signs are fair and independent.
[[nodiscard]] OneRunFigures measure_one_run(const Eigen::VectorXd& scores,
                                            const Eigen::VectorXd& signs,
                                            double delta,
                                            double risk);

}  // namespace sotto
