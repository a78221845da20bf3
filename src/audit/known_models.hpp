#pragma once

#include <Eigen/Dense>
#include <Eigen/Sparse>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "audit/contribution_estimate.hpp"
#include "net/network.hpp"
#include "sotto/plan/noise_plan.hpp"
#include "sotto/views/view_record.hpp"
#include "tasks/local_task.hpp"

namespace sotto {

/// What the members of a view know of every agent's model. The model of an agent is the mean of its
/// messages (first gossip step) in the last rounds, where the view sees them, else the mean of the
/// members' models in these rounds.
struct KnownModels {
    Eigen::MatrixXd models;   ///< d x agents; of members anything
    std::vector<bool> heard;  ///< from its messages
};

/// Reads what the view recorded in the rounds from `first` on. LOCAL.
/// @param views folder `views` of the run directory.  @param rounds of the run.
/// @throws DataError for recordings that are missing or of another run; ConfigError where they say
/// nothing about some agent.
[[nodiscard]] KnownModels read_known_models(const std::filesystem::path& views,
                                            const View& view,
                                            const NoisePlan& plan,
                                            long rounds,
                                            long first);

/// Process 0's models, on every process. COLLECTIVE.
/// @param models read on process 0 only.  @param dimension of a model.
[[nodiscard]] Eigen::MatrixXd share_models(const Eigen::MatrixXd& models,
                                           Eigen::Index dimension,
                                           Network& network);

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

/// Canaries of an audit unless the user wants another number, at least, and at most.
inline constexpr long default_canary_records = 1000;
inline constexpr long fewest_canary_records = 400;
inline constexpr long most_canary_records = 20000;

/// Records whose gradients are known, in the shard of an agent whose batches are secretly sampled:
/// every canary is a trial of its own (Steinke, Nasr, Jagielski 2023, Privacy auditing with one
/// training run). Canary i has its gradient in coordinate i alone, longer than the clip, and is in
/// the shard or not (zeroed out) by a fair coin that nobody knows. Beside them there are
/// companions, always in the shard, whose gradients all lie in one more coordinate: it shows how
/// many of them joined a batch.
struct CanaryRecords {
    int target = 0;
    std::uint64_t seed = 1;    ///< of who is in the shard
    long trials = 0;           ///< canaries
    std::vector<int> members;  ///< of the view, ascending: they have all canaries in their shards,
                               ///< so that their own gradients show their own coins

    static constexpr long companions_of_a_canary = 3;

    [[nodiscard]] long companions() const { return companions_of_a_canary * trials; }
    /// Of every agent's shard, there or zeroed out. Canaries stand first.
    [[nodiscard]] long records() const { return trials + companions(); }
    /// Coordinates of the models: one a canary, and that of the companions, the last.
    [[nodiscard]] Eigen::Index dimension() const { return trials + 1; }
    /// +1 of canaries that are in the target's shard, -1 of those that are not; independent.
    [[nodiscard]] Eigen::VectorXd signs() const;

    [[nodiscard]] bool operator==(const CanaryRecords&) const = default;
};

/// What is needed to look at the recordings again, as text ("format": "sotto-canary-records",
/// "version": 1).
[[nodiscard]] std::string to_json(const CanaryRecords& canaries);
/// @throws DataError naming the source and what is wrong.
[[nodiscard]] CanaryRecords canary_records_from_json(std::string_view text,
                                                     const std::string& source);

/// Shards of the agents of this process: canaries of the target as their coins fell, of members
/// all, of everybody else none. Objectives are those of task averaging, which clip every record's
/// gradient. LOCAL.
/// @param clip_norm C; gradients are 2 C long.
[[nodiscard]] LocalTask make_canary_record_task(const CanaryRecords& canaries,
                                                double clip_norm,
                                                const Network& network);

/// Coins of the target's canaries as they would be if they followed from --seed, which everybody
/// knows: by the key that --noise-seed gives for the same number, and of the batches that are drawn
/// without secret sampling.
/// @param probability q.  @param batch_size B.
[[nodiscard]] std::vector<KnownCoins> public_coins(const CanaryRecords& canaries,
                                                   std::uint64_t seed,
                                                   double probability,
                                                   Eigen::Index batch_size,
                                                   long rounds);

/// Coins of the members' own canaries, read off their recorded gradients.
/// @param views folder `views` of the run directory.
/// @throws DataError for recordings that are missing, or of other models or rounds.
[[nodiscard]] std::vector<KnownCoins> member_coins(const CanaryRecords& canaries,
                                                   const std::filesystem::path& views,
                                                   long rounds);

}  // namespace sotto
