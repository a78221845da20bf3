#pragma once

#include <Eigen/Dense>
#include <functional>
#include <optional>

#include "core/value_range.hpp"

namespace sotto {

/// A sum of clipped record gradients, each rounded toward zero to the grid
/// (Objective::clipped_gradient_sum, the first way). Cost O(d) per record.
class ClippedRecords {
  public:
    enum class Outcome { whole, shortened, set_to_zero };

    /// @param clip_norm_l2, grid_step as require_clip_and_grid allows.
    /// @param sum d, overwritten; must outlive this.
    ClippedRecords(double clip_norm_l2, double grid_step, Eigen::Ref<Eigen::VectorXd> sum);

    /// @param gradient d; scaled by a power of two if its norm would overflow or underflow.
    Outcome add(Eigen::Ref<Eigen::VectorXd> gradient);
    /// The columns, d each, which stay as they are. @param tell hears of each, in order.
    void add_columns(const Eigen::Map<const Eigen::MatrixXd>& gradients,
                     const std::function<void(Outcome)>& tell);
    void add_columns(const Eigen::Map<const Eigen::MatrixXf>& gradients,
                     const std::function<void(Outcome)>& tell);
    /// Call after the last record; the sum is then complete.
    void finish() { sum_ *= grid_step_; }

  private:
    template <class Gradients>
    void add_all(const Gradients& gradients, const std::function<void(Outcome)>& tell);
    /// What a gradient of this norm is multiplied by before it is rounded to integers.
    [[nodiscard]] double scale_of(const RangedNorm& norm) const;
    [[nodiscard]] bool shortens(const RangedNorm& norm) const {
        return norm.longer_than(clip_ * margin_);
    }

    double clip_, grid_step_;
    double margin_;  // covers the rounding of norm and products: truncation never lengthens
    Eigen::Ref<Eigen::VectorXd> sum_;  // in units of the step: integers, until the end
};

}  // namespace sotto
