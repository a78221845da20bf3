#pragma once

#include <Eigen/Dense>

namespace sotto {

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

}  // namespace sotto
