#pragma once

#include <Eigen/Dense>
#include <optional>
#include <vector>

#include "agent/local_agent.hpp"
#include "core/numbers.hpp"
#include "net/control.hpp"
#include "sotto/design/design.hpp"

namespace sotto {

/// How much of the data an evaluation reads. Rows are equally spaced, whatever they contain.
struct EvaluatedRecords {
    /// Test records per agent, for its own model and for the average of all models. At least 1;
    /// none: all. Of a common test set, agents read disjoint rows for the average, together all of
    /// it if there is no limit; with own test records, an agent reads the same rows for both
    /// models.
    std::optional<long> test;
    /// Training records per agent. At least 1; none: all.
    std::optional<long> train;
    /// every agent has its own test records; otherwise all share them
    bool own_tests{};
    /// How many of all agents lie (LocalAgent::lies): their models count in no figure.
    int liars = 0;
};

/// Quality of the models, for the experimenter: computed from raw data, not private outputs. A
/// value that is not finite at one agent is not finite here; no error.
struct Evaluation {
    static constexpr double unknown = not_a_number;
    /// Of every agent's own model: mean over agents of its mean test loss, or, with own test
    /// records, mean over all of these. With equal models it is the loss of the average.
    double test_loss = unknown;
    double test_loss_worst = unknown;       ///< largest over agents
    double test_loss_mean_model = unknown;  ///< of the average of all models, mean over records
    double test_accuracy = unknown;         ///< as test_loss; NaN unless a classification
    double test_accuracy_mean_model = unknown;
    double train_loss_mean_model =
        unknown;  ///< F(mean), F = average of the agents' mean losses + l2/2 |x|^2
    double consensus_distance = unknown;  ///< sqrt(average over agents of |x_u - mean|^2)
    double largest_parameter = unknown;   ///< largest absolute value in the average of all models
    EvaluatedRecords records;             ///< read for these figures
    double optimality_gap = unknown;      ///< F(mean) - F*; NaN if F* is unknown
    double optimality_gap_agents =
        unknown;  ///< average of f_u(x_u) + l2/2 |x_u|^2, minus F*; NaN if F* is unknown
};

/// COLLECTIVE. Cost per agent: one pass over the test set and an agent's part of it (two over its
/// own test records), or twice records.test; one over its training data, or records.train; if
/// `minimum` is known, two over all training data, since F* is of all.
/// @throws NetworkError naming the agent if a model of another process is not finite.
/// @param minimum F* if known.
[[nodiscard]] Evaluation evaluate(Control& network,
                                  std::vector<LocalAgent>& agents,
                                  const Eigen::MatrixXd& models,
                                  double l2,
                                  std::optional<double> minimum,
                                  const EvaluatedRecords& records,
                                  int threads);

/// The average of all agents' models, on every process. COLLECTIVE.
/// @param counted how many agents' models are not zero; 0: all.
[[nodiscard]] Eigen::VectorXd mean_model(Control& network,
                                         const Eigen::MatrixXd& models,
                                         int counted = 0);

/// F* = min_x (1/n) sum_u f_u(x) + l2/2 |x|^2 by Newton's method on pooled derivatives (a figure of
/// merit; uses all raw data). COLLECTIVE. Nothing for tasks without curvature, d above 512, or
/// without convergence.
[[nodiscard]] std::optional<double> minimum_of_average(Control& network,
                                                       std::vector<LocalAgent>& agents,
                                                       double l2,
                                                       int threads);

/// d of minimum_of_average.
inline constexpr Eigen::Index largest_dimension_with_minimum = 512;
/// Whether minimum_of_average takes seconds, and no more: agents have at most 2^26 second
/// derivatives together.
[[nodiscard]] bool cheap_minimum(int agents, Eigen::Index dimension);

/// The mean of its models that every local agent keeps: of the last J rounds, or exponential, y <-
/// decay y + (1 - decay) x after every round, from y = x_0.
class ModelMean {
  public:
    ModelMean() = default;
    /// @param rounds T of the training.
    ModelMean(const Smoothing& smoothing, long rounds);

    /// Call before the first round, with its models; only the exponential mean uses them.
    void start(const Eigen::MatrixXd& models);
    /// Continues from earlier values(). @param rounds_done of the training.
    /// @throws DataError for another number of columns.
    void resume(const Eigen::MatrixXd& values, const Eigen::MatrixXd& models, long rounds_done);
    /// Models after round `round` (from 0). Cost: one pass over them, in the tail only.
    void add(long round, const Eigen::MatrixXd& models);

    /// d x local agents; no columns before the tail or without a mean.
    [[nodiscard]] const Eigen::MatrixXd& values() const { return values_; }

  private:
    /// First round of the training whose model counts.
    [[nodiscard]] long first_round() const { return rounds_ - tail_; }

    double decay_ = 0;
    long tail_ = 0, rounds_ = 0;  // tail 0: no mean
    Eigen::MatrixXd values_;
};

}  // namespace sotto
