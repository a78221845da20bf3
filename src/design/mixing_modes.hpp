#pragma once

#include <Eigen/Dense>

#include "sotto/graph/gossip.hpp"
#include "sotto/graph/mixing.hpp"

namespace sotto {

/// Eigenvectors of a symmetric W, in which noise of different modes never meets.
struct MixingModes {
    Eigen::VectorXd values;   ///< P_K(lambda_i)
    Eigen::MatrixXd vectors;  ///< V, columns
};
/// Cost: O(n^3).
[[nodiscard]] MixingModes mixing_modes(const MixingMatrix& mixing, const GossipPolynomial& gossip);

/// w_i = [V^T R V]_ii: the variance of noise of covariance R in every mode.
[[nodiscard]] Eigen::VectorXd mode_weights(const MixingModes& modes,
                                           const Eigen::MatrixXd& covariance);

}  // namespace sotto
