#pragma once

#include <Eigen/Dense>

#include "sotto/views/view_innovations.hpp"

namespace sotto {

/// Least-squares estimates of what agents contribute, from what a view saw.
///
/// Innovations are y = R Theta + e, e independent and standard normal, and z = N Theta without
/// noise, Theta unknowns x coordinates (ViewInnovations, docs/equations.md 8). z is solved first:
/// Theta = N^+ z + V phi, V a basis of the null space of N; then phi minimises |y - R Theta|^2.
/// Under Gaussian noise no unbiased estimate is better: variances() is the Cramer-Rao bound, and
/// estimates() attain it. Under Laplace noise it is the variance of the best linear estimate.
class ContributionEstimator {
  public:
    /// @param responses R and N of ViewInnovations::responses, one column an unknown.  @param
    /// coordinates d. Cost O(rows unknowns^2).
    ContributionEstimator(ViewInnovations::Innovation responses, Eigen::Index coordinates);

    /// What was seen in the next gossip step; steps in order. Cost O(rows unknowns d).
    /// @throws ConfigError for more rows than the responses have.
    void add(const ViewInnovations::Innovation& seen);

    /// Of all that was added, unknowns x coordinates. Of an unknown that cannot be identified, the
    /// part that can.
    [[nodiscard]] Eigen::MatrixXd estimates() const;
    /// Variance of the estimate of one coordinate of every unknown, the others unknown too: [(R^T
    /// R)^-1]_uu without directions free of noise. 0: no noise covers it, infinite: many values of
    /// it would have looked the same.
    [[nodiscard]] const Eigen::VectorXd& variances() const { return variances_; }

  private:
    Eigen::MatrixXd noisy_projection_, noiseless_projection_;  // left singular vectors
    Eigen::MatrixXd from_noisy_, from_noiseless_;  // estimates from projected innovations
    Eigen::MatrixXd noisy_from_noiseless_;         // what N^+ z explains of y, projected
    Eigen::MatrixXd noisy_, noiseless_;            // projected innovations, accumulated
    Eigen::VectorXd variances_;
    Eigen::Index noisy_rows_ = 0, noiseless_rows_ = 0;
};

/// How often that many independent normal errors of this variance have so small a mean square, or a
/// smaller one (chi-squared). @throws ConfigError unless variance > 0.
[[nodiscard]] double chance_of_smaller_error(double mean_square,
                                             double variance,
                                             Eigen::Index errors);

}  // namespace sotto
