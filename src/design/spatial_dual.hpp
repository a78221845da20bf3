#pragma once

#include <Eigen/Dense>

#include "sotto/design/spatial_solver.hpp"

namespace sotto {

/// Everything the dual of solve_spatial_covariance needs at one lambda, scaled so that Tr S = sum
/// kappa lambda (the best scale).
struct DualPoint {
    Eigen::VectorXd lambda;
    Eigen::VectorXd root;      ///< eigenvalues s_i of S
    Eigen::MatrixXd basis;     ///< eigenvectors of S
    Eigen::VectorXd diagonal;  ///< S_uu
    double bound = 0;          ///< (Tr S)^2 / sum kappa lambda, after scaling simply Tr S
};

/// The dual  max_lambda 2 Tr S - sum_u kappa_u lambda_u,  S = (Lambda^1/2 M Lambda^1/2)^1/2.
class DualProblem {
  public:
    DualProblem(Eigen::MatrixXd utility, Eigen::VectorXd kappa)
        : utility_(std::move(utility)), kappa_(std::move(kappa)) {}

    /// Cost: one eigendecomposition.
    [[nodiscard]] DualPoint evaluate(Eigen::VectorXd lambda);

    /// Newton direction p = d lambda / lambda: K p = S_uu - kappa_u lambda_u, with
    /// K_uv = sum_ij Q_ui Q_vi Q_uj Q_vj s_i s_j / (s_i + s_j). The kernel 1/(a + b) is
    /// int exp(-(a+b) t) dt; its trapezoidal rule in log t turns K into a short sum of entrywise
    /// squares (Q diag(s exp(-s t)) Q^T)^(o2): O(n^3) instead of O(n^4).
    [[nodiscard]] Eigen::VectorXd newton_direction(const DualPoint& point) const;

    /// Feasible R of this point: D^-1 X^-1 D^-1 with D chosen so that [R^-1]_uu = kappa_u exactly.
    /// Only where S is not singular.
    [[nodiscard]] Eigen::MatrixXd feasible_covariance(const DualPoint& point) const;

    /// max_u X_uu / kappa_u - 1: scaling X down by it makes X feasible, so it bounds the relative
    /// gap.
    [[nodiscard]] double gap(const DualPoint& point) const;

    /// Maximises from a start until the gap is met or nothing improves any more.
    [[nodiscard]] DualPoint maximise(Eigen::VectorXd start, const SpatialOptions& options);

    [[nodiscard]] int evaluations() const { return evaluations_; }

  private:
    Eigen::MatrixXd utility_;
    Eigen::VectorXd kappa_;
    int evaluations_ = 0;
};

}  // namespace sotto
