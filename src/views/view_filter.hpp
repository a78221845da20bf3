#pragma once

#include <Eigen/Dense>
#include <span>
#include <vector>

#include "views/observation_model.hpp"

namespace sotto {

/// Whitening of observations with covariance S: rows * S * rows^T = I over the range of S, and an
/// orthonormal basis of its null space.
struct Whitening {
    Eigen::MatrixXd rows;   ///< rank x observed
    Eigen::MatrixXd blind;  ///< (observed - rank) x observed

    /// Whether an observed column has a component above seen_without_noise in `blind`.
    [[nodiscard]] bool shows_without_noise(const Eigen::MatrixXd& columns) const;
};

/// Error of computed variances, relative to the largest of them.
inline constexpr double variance_rounding = 1e-13;

/// @param floor eigenvalues up to it count as zero, as do those up to 1e-11 of the largest.
[[nodiscard]] Whitening whiten(const Eigen::MatrixXd& covariance, double floor);

/// The Kalman filter of a view (docs/equations.md#partial-views): for every time the gain and the
/// whitening of the innovation. Error dynamics of the response to an input:
///     r = whitening (H x + eta D g),    x+ = F x + eta B g - gain r.
class ViewFilter {
  public:
    /// Cost a time: two products of the sparse F with the state's covariance, and O(state^2
    /// observed + observed^3).
    explicit ViewFilter(const ObservationModel& model);

    struct Gain {
        Whitening whitening;
        Eigen::MatrixXd gain;  ///< state x rank
    };
    [[nodiscard]] const Gain& at(long time) const;
    /// First round after which gains no longer change; rounds() if not reached.
    [[nodiscard]] long steady_round() const { return steady_round_; }
    [[nodiscard]] const ObservationModel& model() const { return model_; }

  private:
    const ObservationModel& model_;
    std::vector<Gain> gains_;
    long steady_round_ = 0;
};

/// Gram matrix (rounds x rounds, both triangles) of one target; empty if infinite.
struct TargetGram {
    bool infinite = false;
    Eigen::MatrixXd gram;
};
[[nodiscard]] std::vector<TargetGram> target_grams(const ViewFilter& filter,
                                                   std::span<const int> targets);

}  // namespace sotto
