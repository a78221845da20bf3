#pragma once

#include <Eigen/Dense>
#include <span>
#include <vector>

#include "views/observation_model.hpp"

namespace sotto {

/// What whitens a vector of observations of covariance S: rows * S * rows^T = I over the range of
/// S, and an orthonormal basis of what S does not cover.
struct Whitening {
    Eigen::MatrixXd rows;   ///< rank x observed
    Eigen::MatrixXd blind;  ///< (observed - rank) x observed

    /// Whether what a column makes observed has a component above seen_without_noise in `blind`.
    [[nodiscard]] bool shows_without_noise(const Eigen::MatrixXd& columns) const;
};

/// Error of computed variances, relative to the largest of them.
inline constexpr double variance_rounding = 1e-13;

/// @param floor eigenvalues up to it are rounding errors; besides, those up to 1e-11 of the largest
/// count as zero.
[[nodiscard]] Whitening whiten(const Eigen::MatrixXd& covariance, double floor);

/// The Kalman filter of a view (docs/equations.md 8): at every time the whitening of the innovation
/// and the gain. Error dynamics, for the response to an input:
///     r = whitening (H x + eta D g),    x+ = F x + eta B g - gain r.
class ViewFilter {
  public:
    /// Cost a time: two products of the sparse F with the state's covariance, and
    /// O(state^2 observed + observed^3).
    explicit ViewFilter(const ObservationModel& model);

    struct Gain {
        Whitening whitening;
        Eigen::MatrixXd gain;  ///< state x rank
    };
    [[nodiscard]] const Gain& at(long time) const;
    /// From this round on every round's gains are those of this round; rounds() where not reached.
    [[nodiscard]] long steady_round() const { return steady_round_; }
    [[nodiscard]] const ObservationModel& model() const { return model_; }

  private:
    const ObservationModel& model_;
    std::vector<Gain> gains_;
    long steady_round_ = 0;
};

/// Gram matrices (rounds x rounds, lower and upper) of targets; nothing where one is infinite.
struct TargetGram {
    bool infinite = false;
    Eigen::MatrixXd gram;
};
[[nodiscard]] std::vector<TargetGram> target_grams(const ViewFilter& filter,
                                                   std::span<const int> targets);

}  // namespace sotto
