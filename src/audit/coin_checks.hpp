#pragma once

#include <Eigen/Dense>
#include <Eigen/Sparse>
#include <string>
#include <vector>

#include "audit/contribution_modes.hpp"

namespace sotto {

/// What `count` records in one coordinate show in modes, if each contributes `contribution` in a
/// round with this probability, independently of all else: mean and variance of z (uncorrelated
/// between modes), and the fourth cumulants that sums of squares need.
class CoinModel {
  public:
    /// @param response rounds x modes, as in ContributionModes.
    CoinModel(const Eigen::SparseMatrix<double>& response,
              double contribution,
              double probability,
              double count);

    [[nodiscard]] const Eigen::VectorXd& mean() const { return mean_; }          ///< of z
    [[nodiscard]] const Eigen::VectorXd& variance() const { return variance_; }  ///< of z
    /// Of sum_k weights_k (z_k - mean_k)^2.
    [[nodiscard]] double variance_of_squares(const Eigen::VectorXd& weights) const;
    /// Of the square of sum_k weights_k (z_k - mean_k).
    [[nodiscard]] double variance_of_square(const Eigen::VectorXd& weights) const;

  private:
    Eigen::SparseMatrix<double> shown_;  // rounds x modes: of one record that is drawn
    double fourth_cumulant_;             // of the number of records that are drawn
    Eigen::VectorXd mean_, variance_;
};

/// A figure of what ran, beside what it is if that ran which is accounted for.
struct CoinCheck {
    std::string name;
    double measured = 0;
    double expected = 0;
    double standard_error = 0;
    double p_value = 1;  ///< two-sided
};

/// Of a sum with this mean and variance which is nearly normal. Figures are those of the sum
/// divided by `unit`.
[[nodiscard]] CoinCheck check_of_mean(
    std::string name, double sum, double mean, double variance, double unit);
/// Of a sum of squares with this mean and variance, as a chi-squared variable scaled to have both
/// (exact for normal values of one variance). Figures are divided by the mean.
[[nodiscard]] CoinCheck check_of_squares(std::string name,
                                         double sum,
                                         double mean,
                                         double variance);

/// Coins that others know or can work out: of canary i in round t at (t, i), 1 where it is drawn.
struct KnownCoins {
    std::string whose;  ///< "coins from --seed", "coins of agent 3"
    Eigen::MatrixXd drawn;
};

/// What is looked at.
struct CoinSubject {
    Eigen::VectorXd signs;    ///< of canaries: +1 in the shard, -1 not
    double companions = 0;    ///< records of the last coordinate, all in the shard
    double contribution = 0;  ///< Delta
    double probability = 0;   ///< q that is accounted for
    std::vector<KnownCoins> known;
};

/// Everything that secret coins promise, against what was seen:
///   - canaries in the shard contribute q Delta on average, and vary as independent coins do;
///   - those that are not show noise alone, of the accounted size and independent between rounds;
///   - the sum over rounds of a canary, and over canaries of a round, vary as those of independent
///     terms: coins are drawn anew in every round and for every record;
///   - as many companions join a batch, on average and with the variance of a binomial
///     distribution: sums are divided by the fixed batch size, not by what was drawn;
///   - contributions do not go with coins that others know.
/// @param modes with one coordinate a canary and that of the companions.
[[nodiscard]] std::vector<CoinCheck> check_coins(const ContributionModes& modes,
                                                 const CoinSubject& subject);

}  // namespace sotto
