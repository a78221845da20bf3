#pragma once

#include <Eigen/Dense>

namespace sotto {

struct SpatialOptions {
    double relative_gap = 1e-9;  ///< stop when (value - lower_bound) <= relative_gap * value
    double variance_cap = 1e4;   ///< R_uu <= variance_cap / kappa_u; > 1
    int max_iterations = 100;    ///< eigendecompositions of one dual maximisation
};

enum class SpatialStatus {
    optimal,        ///< the gap was met
    capped,         ///< the cap binds: value is the best found under the cap (see ridge)
    rounding_limit  ///< feasible and certified, but the gap is larger than requested: M is singular
};

struct SpatialSolution {
    SpatialStatus status = SpatialStatus::rounding_limit;
    Eigen::MatrixXd covariance;  ///< R, n x n, positive definite; [R^-1]_uu = kappa_u for all u
    double value = 0;            ///< Tr(M R)
    double lower_bound = 0;      ///< certified: no feasible R, capped or not, has a smaller value
    double ridge = 0;  ///< R minimises Tr((M + ridge I) R); 0 unless M is singular or the cap binds
    int iterations = 0;  ///< eigendecompositions
    [[nodiscard]] double relative_gap() const {
        return value > 0 ? (value - lower_bound) / value : 0;
    }
};

/// Optimal covariance across agents within every agent's budget.
///
/// Solves  min_R Tr(M R)  s.t.  [R^-1]_uu <= kappa_u.
/// Source: [W] eq. 10, docs/equations.md#spatial-covariance
///
/// Newton's method on the dual, whose values give lower bounds. If M is (nearly) singular, R may
/// diverge: M gets the smallest ridge that keeps R_uu <= variance_cap / kappa_u (and S above
/// rounding); the lower bound remains that of ridge 0.
///
/// @param utility M, n x n, symmetric, positive semidefinite, not 0.
/// @param kappa n, > 0, [1 / gradient-unit^2].
/// @return check `status` first. Pure. Cost: O(n^3) an iteration, about 10 iterations without a
/// cap.
/// @throws ConfigError naming agent and value if a kappa is not finite and positive, or if
/// variance_cap <= 1.
[[nodiscard]] SpatialSolution solve_spatial_covariance(const Eigen::MatrixXd& utility,
                                                       const Eigen::VectorXd& kappa,
                                                       const SpatialOptions& options = {});

/// The dual of solve_spatial_covariance at one lambda, scaled so that Tr S = sum kappa lambda (the
/// best scale).
struct DualPoint {
    Eigen::VectorXd lambda;
    Eigen::VectorXd root;      ///< eigenvalues s_i of S
    Eigen::MatrixXd basis;     ///< eigenvectors of S
    Eigen::VectorXd diagonal;  ///< S_uu
    double bound = 0;          ///< (Tr S)^2 / sum kappa lambda, which after scaling is Tr S
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
    /// Requires a regular S.
    [[nodiscard]] Eigen::MatrixXd feasible_covariance(const DualPoint& point) const;

    /// max_u X_uu / kappa_u - 1: scaling X down by it makes X feasible, so it bounds the relative
    /// gap.
    [[nodiscard]] double gap(const DualPoint& point) const;

    /// Maximises from a start until the gap is met or nothing improves.
    [[nodiscard]] DualPoint maximise(Eigen::VectorXd start, const SpatialOptions& options);

    [[nodiscard]] int evaluations() const { return evaluations_; }

  private:
    Eigen::MatrixXd utility_;
    Eigen::VectorXd kappa_;
    int evaluations_ = 0;
};

/// Largest R_uu kappa_u, to compare with the cap.
[[nodiscard]] double relative_variance(const Eigen::MatrixXd& covariance,
                                       const Eigen::VectorXd& kappa);

/// solve_spatial_covariance if M is (nearly) singular or the cap binds: follows the optimum of M +
/// ridge I as the ridge falls, until the gap is met, the cap is reached or rounding ends the
/// progress.
/// @param utility with trace n.
/// @param lower_bound known so far.
[[nodiscard]] SpatialSolution solve_along_ridge(const Eigen::MatrixXd& utility,
                                                const Eigen::VectorXd& kappa,
                                                const SpatialOptions& options,
                                                double lower_bound);

/// DECOR's restriction R = s2 I + c L, L the graph Laplacian.
struct LaplacianSolution {
    double private_variance = 0;  ///< s2
    double edge_variance = 0;     ///< c
    double value = 0;             ///< Tr(M R)
    double lower_bound = 0;       ///< certified over all (s2, c), by linearising the constraints
    bool capped = false;          ///< the variance cap binds
};

/// Solves  min_{s2, c >= 0} Tr(M (s2 I + c L))  s.t.  [R^-1]_uu <= kappa_u, R_uu <= cap / kappa_u,
/// which is unimodal in c/s2. With coalitions of q agents the constraint holds for R^(I) = s2 I + c
/// L of the graph without I, for every |I| = q: the coalition knows its edges' noise. Cost: one
/// eigendecomposition and O(n^2) an evaluation, for every coalition.
/// @param laplacian n x n.
/// @param coalition_size q, 0 <= q < n.
/// @throws ConfigError as solve_spatial_covariance, and for more than a million coalitions.
[[nodiscard]] LaplacianSolution solve_laplacian_covariance(const Eigen::MatrixXd& utility,
                                                           const Eigen::MatrixXd& laplacian,
                                                           const Eigen::VectorXd& kappa,
                                                           double variance_cap = 1e4,
                                                           int coalition_size = 0);

}  // namespace sotto
