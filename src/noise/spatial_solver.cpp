#include "sotto/noise/spatial_solver.hpp"

#include <fmt/format.h>

#include <Eigen/SVD>
#include <algorithm>
#include <cmath>

#include "sotto/core/error.hpp"
#include "sotto/core/linear_algebra.hpp"

namespace sotto {

namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Everything the dual needs at one lambda, scaled so that Tr S = sum kappa lambda (the best
/// scale).
struct DualPoint {
    VectorXd lambda;
    VectorXd root;      // eigenvalues s_i of S
    MatrixXd basis;     // eigenvectors of S
    VectorXd diagonal;  // S_uu
    double bound = 0;   // (Tr S)^2 / sum kappa lambda, after scaling simply Tr S
};

class DualProblem {
  public:
    DualProblem(const MatrixXd& utility, const VectorXd& kappa)
        : utility_(utility), kappa_(kappa) {}

    [[nodiscard]] DualPoint evaluate(VectorXd lambda) {
        ++evaluations_;
        const VectorXd weight = lambda.cwiseSqrt();
        SymmetricEigen eigen =
            symmetric_eigen(weight.asDiagonal() * utility_ * weight.asDiagonal());
        DualPoint point;
        point.basis = std::move(eigen.vectors);
        // Eigenvalues below rounding level are zeros of a singular M.
        const double noise = 1e-14 * eigen.values(eigen.values.size() - 1);
        point.root = (eigen.values.array() > noise).select(eigen.values.cwiseSqrt(), 0.0);
        const double trace = point.root.sum();
        const double factor = trace / kappa_.dot(lambda);  // S scales with its square root's square
        point.lambda = lambda * (factor * factor);
        point.root *= factor;
        point.diagonal = point.basis.cwiseAbs2() * point.root;
        point.bound = trace * factor;
        return point;
    }

    /// Newton direction p = d lambda / lambda: K p = S_uu - kappa_u lambda_u, with
    /// K_uv = sum_ij Q_ui Q_vi Q_uj Q_vj s_i s_j / (s_i + s_j). The kernel 1/(a + b) is
    /// int exp(-(a+b) t) dt; its trapezoidal rule in log t turns K into a short sum of entrywise
    /// squares (Q diag(s exp(-s t)) Q^T)^(o2): O(n^3) instead of O(n^4).
    [[nodiscard]] VectorXd newton_direction(const DualPoint& point) const {
        const Eigen::Index n = point.root.size();
        const double largest = point.root.maxCoeff();
        const double smallest = std::max(point.root.minCoeff(), 1e-9 * largest);
        constexpr double step = 1.0;
        const double first = std::log(1 / largest) - 4.5;
        const double last = std::log(1 / smallest) + 1.2;
        MatrixXd curvature = MatrixXd::Zero(n, n);
        for (double x = first; x <= last + step; x += step) {
            const double t = std::exp(x);
            const VectorXd half =
                (point.root.array() * (-point.root.array() * t).exp()).sqrt().matrix();
            const MatrixXd scaled = point.basis * half.asDiagonal();
            const MatrixXd factor = scaled * scaled.transpose();
            curvature.array() += (step * t) * factor.array().square();
        }
        // Agents whose constraint is slack have lambda_u near 0 and tiny rows: equilibrate first.
        const VectorXd scale = curvature.diagonal().cwiseSqrt().cwiseInverse();
        curvature = scale.asDiagonal() * curvature * scale.asDiagonal();
        curvature.diagonal().array() += 1e-13;
        const VectorXd residual = point.diagonal - kappa_.cwiseProduct(point.lambda);
        return scale.cwiseProduct(curvature.ldlt().solve(scale.cwiseProduct(residual)));
    }

    /// Feasible R of this point: D^-1 X^-1 D^-1 with D chosen so that [R^-1]_uu = kappa_u exactly.
    /// Only where S is not singular.
    [[nodiscard]] MatrixXd feasible_covariance(const DualPoint& point) const {
        const VectorXd weight = point.lambda.cwiseSqrt();
        // X_uu = S_uu / lambda_u.
        const VectorXd stretch =
            (point.diagonal.array() / point.lambda.array() / kappa_.array()).sqrt() *
            weight.array();
        const MatrixXd scaled = stretch.asDiagonal() * point.basis;
        MatrixXd covariance = scaled * point.root.cwiseInverse().asDiagonal() * scaled.transpose();
        return 0.5 * (covariance + covariance.transpose());
    }

    /// max_u X_uu / kappa_u - 1: scaling X down by it makes X feasible, so it bounds the relative
    /// gap.
    [[nodiscard]] double gap(const DualPoint& point) const {
        return (point.diagonal.array() / point.lambda.array() / kappa_.array()).maxCoeff() - 1;
    }

    [[nodiscard]] int evaluations() const { return evaluations_; }

  private:
    const MatrixXd& utility_;
    const VectorXd& kappa_;
    int evaluations_ = 0;
};

/// Maximises the dual from a start until the gap is met or nothing improves any more.
DualPoint maximise(DualProblem& problem, VectorXd start, const SpatialOptions& options) {
    DualPoint point = problem.evaluate(std::move(start));
    const int last_evaluation = problem.evaluations() + options.max_iterations;
    while (problem.evaluations() < last_evaluation && problem.gap(point) > options.relative_gap) {
        const VectorXd direction = problem.newton_direction(point);
        bool improved = false;
        for (double length = 1; length > 1e-2 && !improved; length *= 0.4) {
            const VectorXd exponent = (length * direction).cwiseMax(-2.5).cwiseMin(2.5);
            DualPoint next =
                problem.evaluate(point.lambda.cwiseProduct(exponent.array().exp().matrix()));
            // Near the optimum the bound is flat to rounding while the gap still falls.
            improved = next.bound > point.bound || (next.bound > point.bound * (1 - 1e-13) &&
                                                    problem.gap(next) < 0.5 * problem.gap(point));
            if (improved) point = std::move(next);
        }
        if (!improved) break;
    }
    return point;
}

void check_input(const MatrixXd& utility, const VectorXd& kappa, const SpatialOptions& options) {
    for (Eigen::Index u = 0; u < kappa.size(); ++u)
        if (!(kappa(u) > 0 && std::isfinite(kappa(u))))
            throw ConfigError(fmt::format(
                "kappa of agent {}: {} is not allowed (must be finite and above 0)", u, kappa(u)));
    if (!(options.variance_cap > 1))
        throw ConfigError(
            fmt::format("variance-cap: {} is not allowed (must be above 1)", options.variance_cap));
    if (utility.rows() != kappa.size() || utility.cols() != kappa.size())
        throw ConfigError(fmt::format("utility matrix: {} x {} does not fit {} agents",
                                      utility.rows(),
                                      utility.cols(),
                                      kappa.size()));
    if (!(utility.trace() > 0)) throw ConfigError("utility matrix: must not be zero");
}

/// Largest R_uu kappa_u, to be compared with the cap.
double relative_variance(const MatrixXd& covariance, const VectorXd& kappa) {
    return covariance.diagonal().cwiseProduct(kappa).maxCoeff();
}

/// The optimum of M + ridge I for one ridge, measured against M itself.
struct RidgePoint {
    double ridge = 0;
    VectorXd lambda;
    MatrixXd covariance;
    double largest = 0;  // relative variance, falls as the ridge grows
    double value = 0;    // Tr(M R)
};

/// Follows the optimum as the ridge falls. Where M is singular the optimum either diverges (the cap
/// ends the path) or has lambda_u -> 0 for an agent whose constraint is slack (rounding ends it).
class RidgePath {
  public:
    RidgePath(const MatrixXd& utility, const VectorXd& kappa, const SpatialOptions& options)
        : utility_(utility), kappa_(kappa), options_(options) {
        options_.relative_gap = std::max(options.relative_gap, 1e-8);
        const SymmetricEigen eigen = symmetric_eigen(utility);
        // Eigenvalues at rounding level belong to the null space of a singular M.
        const double noise = 1e-14 * eigen.values(eigen.values.size() - 1);
        const VectorXd spectrum = (eigen.values.array() > noise).select(eigen.values, 0.0);
        root_ = spectrum.cwiseSqrt().asDiagonal() * eigen.vectors.transpose();
    }

    [[nodiscard]] RidgePoint solve(double ridge, const VectorXd& start) {
        MatrixXd lifted = utility_;
        lifted.diagonal().array() += ridge;
        DualProblem problem(lifted, kappa_);
        const DualPoint optimum = maximise(problem, start, options_);
        evaluations_ += problem.evaluations();
        RidgePoint point;
        point.ridge = ridge;
        point.lambda = optimum.lambda;
        if (!(optimum.root.minCoeff() > 0)) return point;
        point.covariance = problem.feasible_covariance(optimum);
        point.largest = relative_variance(point.covariance, kappa_);
        point.value = utility_.cwiseProduct(point.covariance).sum();
        return point;
    }

    /// (Tr S)^2 / kappa.lambda for M without ridge. The s_i are singular values of M^1/2
    /// Lambda^1/2, which keeps digits of the small ones that an eigendecomposition of the square
    /// would lose.
    [[nodiscard]] double lower_bound(const VectorXd& lambda) {
        ++evaluations_;
        const MatrixXd product = root_ * lambda.cwiseSqrt().asDiagonal();
        const double trace = Eigen::JacobiSVD<MatrixXd>(product).singularValues().sum();
        return trace * trace / kappa_.dot(lambda);
    }

    [[nodiscard]] int evaluations() const { return evaluations_; }

  private:
    const MatrixXd& utility_;
    const VectorXd& kappa_;
    SpatialOptions options_;
    MatrixXd root_;
    int evaluations_ = 0;
};

/// Smallest ridge between one that keeps the cap and one that does not, to 3% of the cap: secant
/// steps in the logarithms, kept inside the bracket.
RidgePoint meet_cap(RidgePath& path, RidgePoint inside, RidgePoint outside, double cap) {
    for (int i = 0; i < 30 && inside.largest < 0.97 * cap; ++i) {
        const double width = std::log(inside.ridge) - std::log(outside.ridge);
        const double rise = std::log(outside.largest) - std::log(inside.largest);
        const double share =
            std::clamp((std::log(0.985 * cap) - std::log(inside.largest)) / rise, 0.05, 0.95);
        RidgePoint trial = path.solve(inside.ridge * std::exp(-share * width), inside.lambda);
        if (trial.largest > 0 && trial.largest <= cap)
            inside = std::move(trial);
        else
            outside = std::move(trial);
    }
    return inside;
}

void solve_along_ridge(const MatrixXd& scaled,
                       const VectorXd& kappa,
                       const SpatialOptions& options,
                       SpatialSolution& solution) {
    double ratio = 1.0 / 30;
    RidgePath path(scaled, kappa, options);
    RidgePoint best = path.solve(0.1, kappa.cwiseInverse());
    // With much ridge R is nearly diagonal with R_uu = 1 / kappa_u, inside any cap above 1.
    while (best.largest > options.variance_cap)
        best = path.solve(best.ridge * 10, kappa.cwiseInverse());
    VectorXd start = best.lambda;
    for (;;) {
        solution.lower_bound = std::max(solution.lower_bound, path.lower_bound(best.lambda));
        solution.value = best.value;
        if (best.ridge < 1e-14 || solution.relative_gap() <= options.relative_gap) break;
        RidgePoint next = path.solve(best.ridge * ratio, start);
        // lambda follows a power of the ridge: continue it.
        const VectorXd fall = next.lambda.cwiseQuotient(best.lambda);
        start = next.lambda.cwiseProduct(fall);
        if (next.largest > options.variance_cap) {
            const VectorXd outside_lambda = next.lambda;
            best = meet_cap(path, std::move(best), std::move(next), options.variance_cap);
            solution.lower_bound = std::max({solution.lower_bound,
                                             path.lower_bound(best.lambda),
                                             path.lower_bound(outside_lambda)});
            solution.status = SpatialStatus::capped;
            break;
        }
        const bool usable = next.covariance.size() > 0 && next.value < best.value;
        if (usable) {
            best = std::move(next);
            continue;
        }
        // Rounding: go less far, and let the bound, which holds for any lambda, look further along.
        VectorXd further = next.lambda;
        for (int i = 0; i < 2; ++i, further = further.cwiseProduct(fall))
            solution.lower_bound = std::max(solution.lower_bound, path.lower_bound(further));
        start = best.lambda;
        ratio = std::sqrt(ratio);
        if (ratio > 0.5) break;
    }
    solution.value = best.value;
    solution.covariance = std::move(best.covariance);
    solution.ridge = best.ridge;
    solution.iterations += path.evaluations();
}

}  // namespace

SpatialSolution solve_spatial_covariance(const MatrixXd& utility,
                                         const VectorXd& kappa,
                                         const SpatialOptions& options) {
    check_input(utility, kappa, options);
    const double unit = utility.trace() / static_cast<double>(utility.rows());
    const MatrixXd scaled = utility / unit;

    SpatialSolution solution;
    bool solved = false;
    const VectorXd spectrum = symmetric_eigenvalues(scaled);
    if (spectrum(0) > 1e-12 * spectrum(spectrum.size() - 1)) {
        DualProblem problem(scaled, kappa);
        const DualPoint point = maximise(problem, kappa.cwiseInverse(), options);
        solution.iterations = problem.evaluations();
        solution.lower_bound = point.bound;
        if (point.root.minCoeff() > 0) {
            solution.covariance = problem.feasible_covariance(point);
            solution.value = scaled.cwiseProduct(solution.covariance).sum();
            solved = solution.relative_gap() <= options.relative_gap &&
                     relative_variance(solution.covariance, kappa) <= options.variance_cap;
        }
    }
    if (!solved) solve_along_ridge(scaled, kappa, options, solution);
    if (solution.status != SpatialStatus::capped && solution.relative_gap() <= options.relative_gap)
        solution.status = SpatialStatus::optimal;
    solution.value *= unit;
    solution.lower_bound *= unit;
    solution.ridge *= unit;
    return solution;
}

}  // namespace sotto
