#pragma once

#include <Eigen/Dense>

#include "sotto/design/smoothing.hpp"

namespace sotto {

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
