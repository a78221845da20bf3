#pragma once

#include <Eigen/Dense>
#include <Eigen/Sparse>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "audit/contribution_estimate.hpp"
#include "net/control.hpp"
#include "sotto/plan/noise_plan.hpp"
#include "sotto/views/view_record.hpp"
#include "tasks/local_task.hpp"

namespace sotto {

/// What the members of a view know of every agent's model: the mean of its messages (first gossip
/// step) in the last rounds if the view sees them, else the mean of the members' models in these
/// rounds.
struct KnownModels {
    Eigen::MatrixXd models;   ///< d x agents; undefined for members
    std::vector<bool> heard;  ///< from its messages
};

/// Reads the view's recordings of rounds from `first` on. LOCAL.
/// @param views folder `views` of the run directory.  @param rounds of the run.
/// @throws DataError for recordings that are missing or of another run; ConfigError if they contain
/// nothing about some agent.
[[nodiscard]] KnownModels read_known_models(const std::filesystem::path& views,
                                            const View& view,
                                            const NoisePlan& plan,
                                            Correction correction,
                                            long rounds,
                                            long first);

/// Process 0's models, on every process. COLLECTIVE.
/// @param models read on process 0 only.  @param dimension of a model.
[[nodiscard]] Eigen::MatrixXd share_models(const Eigen::MatrixXd& models,
                                           Eigen::Index dimension,
                                           Control& network);

/// In which rounds a record takes part, as its agent's secret.
struct SecretRounds {
    double probability = 0;    ///< q of a round
    long rounds_an_epoch = 1;  ///< above 1: one round of every epoch, and q = 1 / rounds_an_epoch
};

/// What `count` records in one coordinate show in modes, if each contributes `contribution` in
/// secret rounds of its own: mean and variance of z, and moments of sums over modes. With random
/// allocation rounds of an epoch have covariance -q^2, and modes must be rounds.
class CoinModel {
  public:
    /// @param response rounds x modes, as in ContributionModes; diagonal with random allocation.
    CoinModel(const Eigen::SparseMatrix<double>& response,
              double contribution,
              const SecretRounds& secret,
              double count);

    [[nodiscard]] const Eigen::VectorXd& mean() const { return mean_; }          ///< of z
    [[nodiscard]] const Eigen::VectorXd& variance() const { return variance_; }  ///< of z
    /// Of sum_k weights_k z_k.
    [[nodiscard]] double variance_of_sum(const Eigen::VectorXd& weights) const;
    /// Of sum_k weights_k (z_k - mean_k)^2.
    [[nodiscard]] double variance_of_squares(const Eigen::VectorXd& weights) const;
    /// The same of normal variables with these covariances.
    [[nodiscard]] double normal_variance_of_squares(const Eigen::VectorXd& weights) const;
    /// Of the square of sum_k weights_k (z_k - mean_k).
    [[nodiscard]] double variance_of_square(const Eigen::VectorXd& weights) const;
    /// Of sums of z over epochs, by place.
    [[nodiscard]] Eigen::MatrixXd covariance_of_places() const;

  private:
    /// Second and fourth cumulant of sum_t values_t x_t, x_t 1 where one record takes part.
    struct Cumulants {
        double second = 0, fourth = 0;
    };
    [[nodiscard]] Cumulants of_sum(const Eigen::VectorXd& values) const;
    /// Of sum_t values_t (x_t - q)^2: the variance beyond that of normal x, and that of normal x.
    [[nodiscard]] double excess_of_squares(const Eigen::VectorXd& values) const;
    [[nodiscard]] double normal_squares(const Eigen::VectorXd& values) const;

    Eigen::SparseMatrix<double> shown_;  // rounds x modes: of one drawn record
    SecretRounds secret_;
    double count_;
    Eigen::VectorXd mean_, variance_;
};

/// A measured figure and its expected value under the accounted sampling.
struct CoinCheck {
    std::string name;
    double measured = 0;
    double expected = 0;
    double standard_error = 0;
    double p_value = 1;  ///< two-sided
};

/// Check of a nearly normal sum with this mean and variance. Figures are divided by `unit`.
[[nodiscard]] CoinCheck check_of_mean(
    std::string name, double sum, double mean, double variance, double unit);
/// Check of a sum of squares with this mean and variance, as a scaled chi-squared variable (exact
/// for normal values of one variance). Figures are divided by the mean.
[[nodiscard]] CoinCheck check_of_squares(std::string name,
                                         double sum,
                                         double mean,
                                         double variance);

/// Coins that others know or can compute: 1 at (t, i) if canary i is drawn in round t.
struct KnownCoins {
    std::string whose;  ///< "coins from --seed", "coins of agent 3"
    Eigen::MatrixXd drawn;
};

struct CoinSubject {
    Eigen::VectorXd signs;    ///< of canaries: +1 in the shard, -1 not
    double companions = 0;    ///< records in the last coordinate, all in the shard
    double contribution = 0;  ///< Delta
    SecretRounds secret;      ///< accounted
    std::vector<KnownCoins> known;
};

/// Checks what secret coins promise:
///   - canaries in the shard contribute q Delta on average, and vary as independent coins do;
///   - other canaries show noise alone, of the accounted size and independent between rounds;
///   - sums over rounds of a canary, and over canaries of a round, vary as sums of independent
///     terms: coins are drawn anew in every round and for every record;
///   - with random allocation, sums over the rounds of an epoch show every canary that is there
///     once, and sums over epochs of a place vary as sums of independent terms;
///   - the number of companions in a batch has binomial mean and variance;
///   - contributions do not correlate with coins that others know.
/// @param modes with one coordinate per canary and one for the companions.
[[nodiscard]] std::vector<CoinCheck> check_coins(const ContributionModes& modes,
                                                 const CoinSubject& subject);

/// Default, least and greatest number of canaries.
inline constexpr long default_canary_records = 1000;
inline constexpr long fewest_canary_records = 400;
inline constexpr long most_canary_records = 20000;

/// Records with known gradients in the shard of an agent with secretly sampled batches; every
/// canary is a trial (Steinke, Nasr, Jagielski 2023, Privacy auditing with one training run).
/// Canary i has its gradient in coordinate i alone, longer than the clip, and is in the shard or
/// zeroed out by a fair secret coin. Companions, always in the shard, share one more coordinate,
/// which shows how many of them joined a batch.
struct CanaryRecords {
    int target = 0;
    std::uint64_t seed = 1;  ///< of the coins
    long trials = 0;
    std::vector<int> members;  ///< of the view, ascending: their shards hold all canaries, so that
                               ///< their own gradients show their own coins

    static constexpr long companions_of_a_canary = 3;

    [[nodiscard]] long companions() const { return companions_of_a_canary * trials; }
    /// In every agent's shard, present or zeroed out. Canaries come first.
    [[nodiscard]] long records() const { return trials + companions(); }
    /// One coordinate per canary, and the last for the companions.
    [[nodiscard]] Eigen::Index dimension() const { return trials + 1; }
    /// +1 for canaries in the target's shard, -1 for others; independent.
    [[nodiscard]] Eigen::VectorXd signs() const;

    [[nodiscard]] bool operator==(const CanaryRecords&) const = default;
};

/// Text that a later analysis needs ("format": "sotto-canary-records", "version": 1).
[[nodiscard]] std::string to_json(const CanaryRecords& canaries);
/// @throws DataError naming source and problem.
[[nodiscard]] CanaryRecords canary_records_from_json(std::string_view text,
                                                     const std::string& source);

/// Shards of the local agents: the target's canaries by their coins, all for members, none for
/// others. Objectives are those of task averaging, which clip every record's gradient. LOCAL.
/// @param clip_norm C; gradients have norm 2 C.
[[nodiscard]] LocalTask make_canary_record_task(const CanaryRecords& canaries,
                                                double clip_norm,
                                                const Control& network);

/// The coins the target's canaries would have if they followed from the public --seed: by the key
/// that --noise-seed gives for the same number, and of batches drawn without secret sampling.
/// @param batch_size B.
[[nodiscard]] std::vector<KnownCoins> public_coins(const CanaryRecords& canaries,
                                                   std::uint64_t seed,
                                                   const SecretRounds& secret,
                                                   Eigen::Index batch_size,
                                                   long rounds);

/// Coins of the members' own canaries, from their recorded gradients.
/// @param views folder `views` of the run directory.
/// @throws DataError for recordings that are missing, or of other models or rounds.
[[nodiscard]] std::vector<KnownCoins> member_coins(const CanaryRecords& canaries,
                                                   const std::filesystem::path& views,
                                                   long rounds);

}  // namespace sotto
