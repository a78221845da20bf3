#pragma once

#include <Eigen/Dense>
#include <functional>
#include <span>
#include <variant>

#include "sotto/learn/objective.hpp"

namespace sotto {

/// Gradients in the caller's memory, one after the other: d x count, double or single precision.
using HandedGradients =
    std::variant<Eigen::Map<const Eigen::MatrixXd>, Eigen::Map<const Eigen::MatrixXf>>;

/// What a calling program computes for one agent. The functions are called in the round that needs
/// them, by one thread at a time; exceptions they throw end the job.
struct HandedFunctions {
    using Rows = std::span<const Eigen::Index>;
    /// The gradient of each of these rows at the model (adjacency record), valid until the next
    /// call. Any values are allowed: each gradient is clipped, and a non-finite one counts as zero.
    std::function<HandedGradients(const Eigen::Ref<const Eigen::VectorXd>& model, Rows rows)>
        record_gradients{};
    /// The gradient of the whole batch, d x 1 (adjacency agent).
    std::function<HandedGradients(const Eigen::Ref<const Eigen::VectorXd>& model, Rows rows)>
        batch_gradient{};
    /// Losses over rows first, first + stride, ... of training or test records; empty: unknown.
    using Losses = std::function<LossSum(
        const Eigen::Ref<const Eigen::VectorXd>& model, Eigen::Index first, Eigen::Index stride)>;
    Losses train_losses{}, test_losses{};
};

/// An objective whose gradients a calling program computes (Python, docs/python.md). Without a
/// function, as before the first round, gradients are zero. Every record's gradient is clipped here
/// and rounded toward zero to the grid before an exact sum: a wrong function can ruin the model,
/// not the guarantee. Cost beside the functions: O(d) per record, and one vector of d.
class HandedObjective final : public Objective {
  public:
    /// @param most_rows asked for in one call.
    /// @throws ConfigError unless dimension, records and most_rows are at least 1, and test_records
    /// 0.
    HandedObjective(Eigen::Index dimension,
                    Eigen::Index records,
                    Eigen::Index most_rows,
                    Eigen::Index test_records = 0);

    /// May be changed between rounds.
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
    Eigen::VectorXd gradient_norms(const Eigen::Ref<const Eigen::VectorXd>& model,
                                   std::span<const Eigen::Index> rows) override;
    LossSum train_loss(const Eigen::Ref<const Eigen::VectorXd>& model) override;
    LossSum train_loss_of_share(const Eigen::Ref<const Eigen::VectorXd>& model,
                                Eigen::Index stride) override;
    Eigen::Index test_records() const override { return test_records_; }
    LossSum test_loss(const Eigen::Ref<const Eigen::VectorXd>& model,
                      Eigen::Index first,
                      Eigen::Index stride) override;

  private:
    /// Calls use(gradient) for each of the records, in order; no call without a function.
    void for_each_gradient(const Eigen::Ref<const Eigen::VectorXd>& model,
                           std::span<const Eigen::Index> rows,
                           const std::function<void(Eigen::Ref<Eigen::VectorXd>)>& use);
    Eigen::Index dimension_, records_, most_rows_, test_records_;
    HandedFunctions functions_;
    Eigen::VectorXd gradient_;  // of one record
};

}  // namespace sotto
