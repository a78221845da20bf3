#pragma once

#include <Eigen/Dense>
#include <functional>
#include <optional>
#include <span>
#include <variant>

#include "sotto/learn/objective.hpp"

namespace sotto {

/// Gradients in the caller's memory, one after the other: d x count, double or single precision.
using HandedGradients =
    std::variant<Eigen::Map<const Eigen::MatrixXd>, Eigen::Map<const Eigen::MatrixXf>>;

/// A sum of gradients that the program has clipped itself, in its memory.
struct HandedSum {
    std::optional<HandedGradients> sum;       ///< d x 1; nothing if only norms were asked for
    Eigen::Map<const Eigen::VectorXd> norms;  ///< L2, before clipping, one a record
};

/// What a calling program computes for one agent. The functions are called in the round that needs
/// them, by one thread at a time; exceptions they throw end the job.
struct HandedFunctions {
    using Rows = std::span<const Eigen::Index>;
    /// The gradient of each of these rows at the model (adjacency record), valid until the next
    /// call. Any values are allowed: each gradient is clipped, and a non-finite one counts as zero.
    std::function<HandedGradients(const Eigen::Ref<const Eigen::VectorXd>& model, Rows rows)>
        record_gradients{};
    /// Instead of record_gradients: the sum of the gradients of these rows at the model, each
    /// clipped to this L2 norm by the program, valid until the next call. A norm that is not finite
    /// stands for a gradient that counts as zero. A clip norm that is not a number asks for norms
    /// only.
    std::function<HandedSum(
        const Eigen::Ref<const Eigen::VectorXd>& model, Rows rows, double clip_norm)>
        clipped_sum{};
    /// Rows of one call of clipped_sum, whose memory is not that of gradients; 0: as of others.
    Eigen::Index most_summed_rows = 0;
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
/// not the guarantee. Cost beside the functions: O(d) per record.
///
/// A sum that the program has clipped is taken at its word, but that it is finite and not longer
/// than sum_i min(C, norm_i), up to one part in a thousand. It is multiplied by C' / C,
///
///     C' = (C - grid_step sqrt(d)) / (1 + 2 n (k + 2) u),
///
/// and rounded toward zero to the grid, which adds at most grid_step sqrt(d) to the distance of two
/// sums; k parts of n records are added up in double precision, u = 2^-53. Cost: O(d) per part.
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
    /// This and the following throw ConfigError for gradients, sums or norms of another number or
    /// size, and for negative norms.
    void mean_gradient(const Eigen::Ref<const Eigen::VectorXd>& model,
                       std::span<const Eigen::Index> rows,
                       Eigen::Ref<Eigen::VectorXd> gradient) override;
    /// @throws PrivacyError for a sum that is not finite, or longer than its norms allow.
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
    using Rows = std::span<const Eigen::Index>;
    [[nodiscard]] Eigen::Index most_at_once() const {
        const bool summed = functions_.clipped_sum && functions_.most_summed_rows > 0;
        return summed ? functions_.most_summed_rows : most_rows_;
    }
    /// Calls use(part) for at most most_at_once() rows at a time, in order.
    void for_each_part(Rows rows, const std::function<void(Rows)>& use) const;
    [[nodiscard]] HandedGradients gradients_of(const Eigen::Ref<const Eigen::VectorXd>& model,
                                               Rows part);
    [[nodiscard]] HandedSum sum_of(const Eigen::Ref<const Eigen::VectorXd>& model,
                                   Rows part,
                                   double clip_norm);
    /// The sum of the program's clipped sums. @param sum d, overwritten.
    void add_handed_sums(const Eigen::Ref<const Eigen::VectorXd>& model,
                         Rows rows,
                         double clip_norm,
                         double grid_step,
                         Eigen::Ref<Eigen::VectorXd> sum);
    /// C' / C. @throws ConfigError if rounding leaves too little.
    [[nodiscard]] double share_of_clip(double clip_norm, double grid_step) const;
    Eigen::Index dimension_, records_, most_rows_, test_records_;
    HandedFunctions functions_;
};

}  // namespace sotto
