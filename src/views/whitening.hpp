#pragma once

#include <Eigen/Dense>

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

}  // namespace sotto
