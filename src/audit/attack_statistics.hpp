#pragma once

#include <Eigen/Dense>
#include <functional>
#include <vector>

#include "sotto/privacy/privacy_loss.hpp"

namespace sotto {

/// Results of independent, identical trials of one attack. Each has a secret sign and a score,
/// larger for +1.
struct AttackFigures {
    long trials = 0;
    double mu = 0;     ///< (mean score of +1 - mean score of -1) / standard deviation
    double lower = 0;  ///< interval of mu at `level`, for Gaussian scores
    double upper = 0;
    /// epsilon >= this with confidence `level`, for any distribution.
    double epsilon_lower = 0;
};

/// @param scores, signs (+-1) one per trial.  @param delta in [0, 1).  @param level in (0, 1), such
/// as .99.
///
/// mu is that of N(+-mu/2, 1); its interval mu +- z sqrt(1/n_+ + 1/n_- + mu^2 / (2 n)) holds for
/// many trials. epsilon_lower: a threshold is chosen on the first half of the trials; the second
/// half bounds the rate of -1 scores above it (alpha) and of +1 scores not above it (beta) (Clopper
/// and Pearson): epsilon >= log((1 - delta - alpha) / beta), and the same with alpha and beta
/// exchanged.
/// @throws ConfigError for sizes that do not fit, fewer than 20 trials of either sign in either
/// half, or values out of range. Cost O(n log n).
[[nodiscard]] AttackFigures measure_attack(const Eigen::VectorXd& scores,
                                           const Eigen::VectorXd& signs,
                                           double delta,
                                           double level);

/// Largest rate at which `hits` or fewer of `trials` have probability `risk` (Clopper and Pearson
/// 1934). @param risk in (0, 1).
[[nodiscard]] double rate_at_most(long hits, long trials, double risk);

/// Trials, half of each sign, for an interval of mu at `level` of at most mu +- width mu: (z /
/// width)^2 (4 / mu^2 + 1/2). @param mu > 0.
[[nodiscard]] double trials_for_width(double mu, double width, double level);

/// z for a normal interval mean +- z standard errors of this level.
/// @throws ConfigError unless the level is between 0 and 1.
[[nodiscard]] double two_sided_z(double level);

/// How well scores separate positive from negative cases.
struct RankingFigures {
    double auc = 0.5;  ///< probability that a positive case has the larger score; ties count half
    double lower = 0;  ///< interval at the given level
    double upper = 1;
    double advantage = 0;  ///< true positive rate minus false positive rate, see measure_ranking
};

/// @param positive, negative scores, at least 2 each, in random order.  @param level in (0, 1).
///
/// The interval is auc +- z s with the variance of DeLong, DeLong and Clarke-Pearson (1988): s^2 =
/// var(V_i) / m + var(U_j) / n, V_i the share of negatives below positive i, U_j the share of
/// positives above negative j; for many cases. The advantage is measured on the second half of each
/// kind, at a threshold chosen on the first.
/// @throws ConfigError for fewer scores or a level out of range. Cost O(n log n).
[[nodiscard]] RankingFigures measure_ranking(const Eigen::VectorXd& positive,
                                             const Eigen::VectorXd& negative,
                                             double level);

/// Limits of any test between two neighbouring inputs under a privacy loss: for every epsilon,
///
///     TPR <= e^epsilon FPR + delta(epsilon),    1 - FPR <= e^epsilon (1 - TPR) + delta(epsilon).
///
/// Certified: delta is an upper bound, on 24 epsilons from 0 to the one that holds at `delta`.
class TradeOff {
  public:
    /// @param loss finite.  @param delta in (0, 1). Cost: 24 times PrivacyLoss::delta.
    TradeOff(const PrivacyLoss& loss, double delta);

    /// The largest true positive rate of a test with this false positive rate, in [0, 1].
    [[nodiscard]] double true_positive_rate(double false_positive_rate) const;
    /// The smallest false positive rate of a test with this true positive rate, in [0, 1].
    [[nodiscard]] double false_positive_rate(double true_positive_rate) const;

  private:
    struct Point {
        double epsilon = 0, delta = 0;
    };
    std::vector<Point> points_;
};

inline constexpr long fewest_white_samples = 100;

/// Whether vectors look like independent standard normal variables.
struct WhitenessFigures {
    long samples = 0;
    long dimensions = 0;
    double variance = 1;  ///< mean square of all values; 1 if white
    /// Largest sample correlation of two dimensions, in standard deviations under white noise.
    double largest_correlation = 0;
    double p_value = 1;  ///< probability that white noise looks as bad
};

/// @param values dimensions x independent samples. Two tests: the sum of squares (chi-squared), and
/// the largest entry of the sample covariance (chi-squared on the diagonal, normal off it, times
/// their number). p_value is twice the smaller of their p-values.
/// @throws ConfigError for fewer than fewest_white_samples. Cost O(dimensions^2 samples).
[[nodiscard]] WhitenessFigures test_whiteness(const Eigen::MatrixXd& values);

/// Upper bound of the probability that anybody guesses so well under (epsilon, delta) privacy. Each
/// of `trials` records is in the data or not by its own fair coin; the attacker guesses `guesses`
/// of these coins, a fixed number, and abstains from the others. Steinke, Nasr, Jagielski 2023,
/// Theorem 5.2: with X ~ Binomial(guesses, e^epsilon / (e^epsilon + 1)),
///
///     P[at least v are correct] <= P[X >= v] + 2 delta trials max_{i >= 1} P[v - i <= X < v] / i.
///
/// @throws ConfigError unless 0 <= correct <= guesses <= trials, epsilon >= 0, 0 <= delta < 1. Cost
/// O(correct).
[[nodiscard]] double one_run_p_value(
    long trials, long guesses, long correct, double epsilon, double delta);

/// The largest epsilon >= 0 that a p-value of at most `risk` excludes; 0 if there is none.
/// @param risk in (0, 1).
[[nodiscard]] double one_run_epsilon(
    long trials, long guesses, long correct, double delta, double risk);

/// Smallest false positive rate of any test with this true positive rate: a convex, increasing
/// function f of [0, 1] with f(x) <= x.
using TradeOffCurve = std::function<double(double true_positive_rate)>;

/// Whether so many correct guesses have a probability below `risk` under a mechanism with this
/// trade-off. Mahloujifar, Melis and Chaudhuri 2024 ("Auditing f-differential privacy in one run"):
/// with p_i = P[i guesses are correct], N trials, r guesses,
///
///     r_j = sum_{i >= j} p_i i / N,    h_j = sum_{i >= j} p_i (r - i) / N,    h_j >= f(r_{j+1}),
///
/// because a coin that is turned makes its correct guess a wrong one. P[at least v are correct] =
/// risk would need r_v >= risk v / N, and then r_0 + h_0 > r / N, which is impossible.
/// @throws ConfigError as one_run_p_value, and unless 0 < risk < 1. Cost: at most `correct` values
/// of the curve.
[[nodiscard]] bool one_run_excludes(
    long trials, long guesses, long correct, const TradeOffCurve& curve, double risk);

/// The largest mu such that one_run_excludes f(x) = Phi(Phi^-1(x) - mu), the trade-off of Gaussian
/// noise; 0 if there is none.
[[nodiscard]] double one_run_mu(long trials, long guesses, long correct, double risk);

struct OneRunFigures {
    long guesses = 0, correct = 0;  ///< of epsilon_lower
    double epsilon_lower = 0;
    /// Epsilon at delta of one_run_mu: no Gaussian mechanism with less is guessed so well.
    /// Usually above epsilon_lower.
    double gaussian_epsilon_lower = 0;
};
/// The best bounds of ten ways to guess: the 1, 2.5, 5, 10 or 25% of all trials with the largest
/// scores are taken for +1, and as many with the smallest scores for -1, or none. Each has a tenth
/// of the risk.
/// @param scores, signs (+-1) one per trial; signs are fair and independent.
[[nodiscard]] OneRunFigures measure_one_run(const Eigen::VectorXd& scores,
                                            const Eigen::VectorXd& signs,
                                            double delta,
                                            double risk);
/// Whether one of these ways excludes a trade-off.
[[nodiscard]] bool one_run_excludes(const Eigen::VectorXd& scores,
                                    const Eigen::VectorXd& signs,
                                    const TradeOffCurve& curve,
                                    double risk);

}  // namespace sotto
