#pragma once

#include <Eigen/Dense>
#include <vector>

#include "design/utility_gain.hpp"
#include "sotto/graph/graph.hpp"
#include "sotto/graph/mixing.hpp"

namespace sotto {

/// Symmetric mixing matrices of a graph by one weight an edge:
///
///     W(w) = I - sum_e w_e b_e b_e^T,  b_e = e_u - e_v for the edge e = (u, v),
///
/// so that W 1 = 1 whatever w is; self weights are what is left to 1 and may be negative.
class EdgeMixing {
  public:
    explicit EdgeMixing(const Graph& graph);

    [[nodiscard]] Eigen::Index edges() const { return static_cast<Eigen::Index>(edges_.size()); }
    /// W(w), n x n.
    [[nodiscard]] Eigen::MatrixXd matrix(const Eigen::VectorXd& weights) const;
    /// w of a symmetric matrix.
    [[nodiscard]] Eigen::VectorXd weights_of(const MixingMatrix& mixing) const;
    /// b_e^T A b_e of every edge.
    [[nodiscard]] Eigen::VectorXd differences(const Eigen::MatrixXd& matrix) const;

  private:
    int agents_;
    std::vector<Edge> edges_;
};

/// Eigenvalues of a symmetric W and M at W, away from the mean of agents, whose eigenvalue 1 and
/// eigenvector no w changes.
class MixingPoint {
  public:
    /// Cost: one eigendecomposition, and O(n length) if the gain is asked for.
    explicit MixingPoint(const Eigen::MatrixXd& mixing);

    /// Largest |l_i|: what is below 1 for agents to agree.
    [[nodiscard]] double modulus() const { return values_.size() > 0 ? largest_modulus_ : 0; }
    /// M = V diag(s(l_i)) V^T + s(1) 11^T/n.  @param mean_gain s(1). Cost: O(n^3 + n length).
    [[nodiscard]] Eigen::MatrixXd utility(const UtilityGain& gain, double mean_gain);
    /// d Tr(M R) / dW = V G V^T, G_ij = (V^T R V)_ij (s_i - s_j)/(l_i - l_j), s'(l_i) where l_i and
    /// l_j are (nearly) equal; rows and columns of the mean are left out, b_e is orthogonal to it.
    /// Only after utility(). Cost: O(n^3 + n length).
    [[nodiscard]] Eigen::MatrixXd derivative(const UtilityGain& gain,
                                             const Eigen::MatrixXd& covariance) const;

  private:
    Eigen::VectorXd values_, gains_;  // n - 1
    Eigen::MatrixXd vectors_;         // n x (n - 1)
    double largest_modulus_ = 0;
};

}  // namespace sotto
