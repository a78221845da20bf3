#pragma once

// Gradients of single records, made short and added up exactly; not installed.

#include <Eigen/Dense>

namespace sotto {

/// A sum of clipped record gradients, each rounded toward zero to the grid (see
/// Objective::clipped_gradient_sum, the first way). Pure; cost O(d) a record.
class ClippedRecords {
  public:
    enum class Outcome { whole, shortened, set_to_zero };

    /// @param clip_norm_l2, grid_step that require_clip_and_grid allows.
    /// @param sum d, overwritten; borrowed.
    ClippedRecords(double clip_norm_l2, double grid_step, Eigen::Ref<Eigen::VectorXd> sum);

    /// @param gradient d; scaled by a power of two where doubles do not hold its norm.
    Outcome add(Eigen::Ref<Eigen::VectorXd> gradient);
    /// After the last one: the sum is complete.
    void finish() { sum_ *= grid_step_; }

  private:
    double clip_, grid_step_;
    double margin_;  // covers the rounding of norm and products, so that truncation never lengthens
    Eigen::Ref<Eigen::VectorXd> sum_;  // in units of the step: integers, until the end
};

}  // namespace sotto
