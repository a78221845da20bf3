#pragma once

#include <Eigen/Dense>
#include <optional>
#include <vector>

#include "agent/local_agent.hpp"
#include "core/numbers.hpp"
#include "net/network.hpp"
#include "sotto/design/design.hpp"

namespace sotto {

/// How much of the data an evaluation reads. Rows are taken at equal distances, whatever is in
/// them.
struct EvaluatedRecords {
    /// Of the test set, by every agent: for its own model, and for the average of all models. At
    /// least 1; none: all of it. Of a test set that all agents have, they read different rows for
    /// the average, all together all of it where there is no limit; of its own, an agent reads the
    /// same rows for both models.
    std::optional<long> test;
    /// Of its training records, by every agent. At least 1; none: all.
    std::optional<long> train;
    /// Every agent has test records of its own; otherwise all have the same.
    bool own_tests{};
};

/// How good the models are. For the experimenter: computed from raw data, not private outputs.
/// What is not finite at one agent is not finite here, and ends nothing.
struct Evaluation {
    static constexpr double unknown = not_a_number;
    /// Of every agent's own model: mean over agents of its mean test loss, or, where agents have
    /// test records of their own, mean over all of these. So where all models are equal, it is the
    /// loss of the average.
    double test_loss = unknown;
    double test_loss_worst = unknown;       ///< largest over agents
    double test_loss_mean_model = unknown;  ///< of the average of all models, mean over records
    double test_accuracy = unknown;         ///< as test_loss; NaN if not a classification
    double test_accuracy_mean_model = unknown;
    double train_loss_mean_model =
        unknown;  ///< F(mean), F = average of the agents' mean losses + l2/2 |x|^2
    double consensus_distance = unknown;  ///< sqrt(average over agents of |x_u - mean|^2)
    double largest_parameter = unknown;   ///< of the average of all models, without its sign
    EvaluatedRecords records;             ///< that these figures are of
    double optimality_gap = unknown;      ///< F(mean) - F*; NaN where F* is not computed
    double optimality_gap_agents =
        unknown;  ///< average of f_u(x_u) + l2/2 |x_u|^2, minus F*; NaN likewise
};

/// COLLECTIVE. Cost per agent: one pass over the test set and an agent's part of it (two over its
/// own test records), or twice records.test; one over its training data, or records.train; where
/// `minimum` is known two over all of its training data, since F* is of all.
/// @throws NetworkError naming the agent for a model of another process that is not finite.
/// @param minimum F* if known.
[[nodiscard]] Evaluation evaluate(Network& network,
                                  std::vector<LocalAgent>& agents,
                                  const Eigen::MatrixXd& models,
                                  double l2,
                                  std::optional<double> minimum,
                                  const EvaluatedRecords& records,
                                  int threads);

/// The average of all agents' models, on every process. COLLECTIVE.
[[nodiscard]] Eigen::VectorXd mean_model(Network& network, const Eigen::MatrixXd& models);

/// F* = min_x (1/n) sum_u f_u(x) + l2/2 |x|^2 by Newton's method on pooled derivatives (a figure of
/// merit; uses all raw data). COLLECTIVE. Nothing for tasks without curvature, d above 512, or
/// where it does not converge.
[[nodiscard]] std::optional<double> minimum_of_average(Network& network,
                                                       std::vector<LocalAgent>& agents,
                                                       double l2,
                                                       int threads);

/// The mean of its models that every local agent keeps: of the last J rounds of the training, or
/// exponential, y <- decay y + (1 - decay) x after every round from y = x_0 on.
class ModelMean {
  public:
    ModelMean() = default;
    /// @param rounds T of the training.
    ModelMean(const Smoothing& smoothing, long rounds);

    /// The models before the first of the coming rounds. Only the exponential mean starts there.
    void start(const Eigen::MatrixXd& models);
    /// Goes on with what values() was. @param rounds_done of the training.
    /// @throws DataError where there should be other columns, or none.
    void resume(const Eigen::MatrixXd& values, const Eigen::MatrixXd& models, long rounds_done);
    /// Models after round number `round` (from 0). Cost: one pass over them, in the tail only.
    void add(long round, const Eigen::MatrixXd& models);

    /// d x local agents; no columns before the tail, and where no mean is kept.
    [[nodiscard]] const Eigen::MatrixXd& values() const { return values_; }

  private:
    /// Of the training, the first whose model counts.
    [[nodiscard]] long first_round() const { return rounds_ - tail_; }

    double decay_ = 0;
    long tail_ = 0, rounds_ = 0;  // tail 0: no mean
    Eigen::MatrixXd values_;
};

}  // namespace sotto
