#pragma once

#include <Eigen/Dense>
#include <functional>
#include <span>
#include <variant>

#include "sotto/learn/objective.hpp"

namespace sotto {

/// Gradients as somebody else's memory holds them, one after the other: d x count, double or single
/// precision.
using HandedGradients =
    std::variant<Eigen::Map<const Eigen::MatrixXd>, Eigen::Map<const Eigen::MatrixXf>>;

/// What a program computes for one agent of a training. The functions are called in the round that
/// needs them, by one thread at a time; what they throw ends the job.
struct HandedFunctions {
    using Rows = std::span<const Eigen::Index>;
    /// Gradients at the model: of every one of these rows (adjacency record), valid until the next
    /// call. They may be anything: each is clipped, and one that is not finite counts as zero.
    std::function<HandedGradients(const Eigen::Ref<const Eigen::VectorXd>& model, Rows rows)>
        record_gradients{};
    /// The gradient of the whole batch, d x 1 (adjacency agent).
    std::function<HandedGradients(const Eigen::Ref<const Eigen::VectorXd>& model, Rows rows)>
        batch_gradient{};
    /// Losses over rows first, first + stride, ... of training or test records; empty: not known.
    using Losses = std::function<LossSum(
        const Eigen::Ref<const Eigen::VectorXd>& model, Eigen::Index first, Eigen::Index stride)>;
    Losses train_losses{}, test_losses{};
};

/// An objective whose gradients somebody else computes: of a program that calls the library
/// (Python, docs/python.md). Where no function is given, as before the first round, gradients are
/// zero. Clipping is its own: every record's gradient is made short and rounded toward zero to the
/// grid before an exact sum, whatever the function gives, so a wrong function can ruin the model,
/// not the guarantee. Cost beside the functions: O(d) a record, and one vector of d.
class HandedObjective final : public Objective {
  public:
    /// @param dimension, records at least 1; most_rows that are asked for in one call, at least 1;
    /// test_records at least 0.  @throws ConfigError.
    HandedObjective(Eigen::Index dimension,
                    Eigen::Index records,
                    Eigen::Index most_rows,
                    Eigen::Index test_records = 0);

    /// For the rounds to come; changed between them.
    [[nodiscard]] HandedFunctions& functions() { return functions_; }
    void set_test_records(Eigen::Index records) { test_records_ = records; }

    Eigen::Index dimension() const override { return dimension_; }
    Eigen::Index records() const override { return records_; }
    bool record_clipping() const override { return true; }
    bool counts_shortened_records() const override { return true; }
    /// @throws ConfigError for gradients of another number or size.
    void mean_gradient(const Eigen::Ref<const Eigen::VectorXd>& model,
                       std::span<const Eigen::Index> rows,
                       Eigen::Ref<Eigen::VectorXd> gradient) override;
    void clipped_gradient_sum(const Eigen::Ref<const Eigen::VectorXd>& model,
                              std::span<const Eigen::Index> rows,
                              double clip_norm_l2,
                              double grid_step,
                              Eigen::Ref<Eigen::VectorXd> sum) override;
    LossSum train_loss(const Eigen::Ref<const Eigen::VectorXd>& model) override;
    LossSum train_loss_of_share(const Eigen::Ref<const Eigen::VectorXd>& model,
                                Eigen::Index stride) override;
    Eigen::Index test_records() const override { return test_records_; }
    LossSum test_loss(const Eigen::Ref<const Eigen::VectorXd>& model,
                      Eigen::Index first,
                      Eigen::Index stride) override;

  private:
    Eigen::Index dimension_, records_, most_rows_, test_records_;
    HandedFunctions functions_;
    Eigen::VectorXd gradient_;  // of one record
};

}  // namespace sotto
