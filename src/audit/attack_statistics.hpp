#pragma once

#include <Eigen/Dense>
#include <vector>

#include "sotto/privacy/privacy_loss.hpp"

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

/// z with which mean +- z standard errors is a normal interval of this level.
/// @throws ConfigError unless the level is between 0 and 1.
[[nodiscard]] double two_sided_z(double level);

/// How well scores tell two kinds of cases apart.
struct RankingFigures {
    double auc = 0.5;  ///< how often a positive case has the larger score; ties count half
    double lower = 0;  ///< interval at the level that was asked
    double upper = 1;
    double advantage = 0;  ///< rate of true less rate of false alarms, see measure_ranking
};

/// @param positive, negative scores, at least 2 each, in random order.  @param level in (0, 1).
///
/// The interval is auc +- z s with the variance of DeLong, DeLong and Clarke-Pearson (1988): s^2 =
/// var(V_i) / m + var(U_j) / n, V_i the share of negatives below positive i, U_j the share of
/// positives above negative j; for many cases. For the advantage a threshold is chosen on the first
/// half of either kind, and tried on the second: its expectation is what this attacker gains.
/// @throws ConfigError for fewer scores or a level out of range. Cost O(n log n).
[[nodiscard]] RankingFigures measure_ranking(const Eigen::VectorXd& positive,
                                             const Eigen::VectorXd& negative,
                                             double level);

/// What a privacy loss allows any test between two neighbouring inputs: for every epsilon,
///
///     TPR <= e^epsilon FPR + delta(epsilon),    1 - FPR <= e^epsilon (1 - TPR) + delta(epsilon).
///
/// Certified: delta is taken from above, on 24 epsilons from 0 to the one that holds at `delta`.
class TradeOff {
  public:
    /// @param loss finite.  @param delta in (0, 1). Cost: 24 times PrivacyLoss::delta.
    TradeOff(const PrivacyLoss& loss, double delta);

    /// The largest rate of true positives of a test with this rate of false positives, in [0, 1].
    [[nodiscard]] double true_positive_rate(double false_positive_rate) const;

  private:
    struct Point {
        double epsilon = 0, delta = 0;
    };
    std::vector<Point> points_;
};

inline constexpr long fewest_white_samples = 100;

/// Whether vectors are what independent standard normal variables would be.
struct WhitenessFigures {
    long samples = 0;
    long dimensions = 0;
    double variance = 1;  ///< mean square of all values; 1 if white
    /// Largest sample correlation of two dimensions, in standard deviations of what chance does.
    double largest_correlation = 0;
    double p_value = 1;  ///< how often white noise looks as bad
};

/// @param values dimensions x samples, the samples independent. Two tests: the sum of squares
/// (chi-squared), and the largest entry of the sample covariance (chi-squared on the diagonal,
/// normal off it, times their number). p_value is twice the smaller of their p-values.
/// @throws ConfigError for fewer than fewest_white_samples. Cost O(dimensions^2 samples).
[[nodiscard]] WhitenessFigures test_whiteness(const Eigen::MatrixXd& values);

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
