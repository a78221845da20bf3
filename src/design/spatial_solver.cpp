#include "design/spatial_solver.hpp"

#include <Eigen/SVD>
#include <algorithm>
#include <cmath>

#include "core/linear_algebra.hpp"
#include "design/solver_input.hpp"
#include "sotto/core/error.hpp"

namespace sotto {

namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// For regular M and a cap that does not bind.
SpatialSolution solve_without_ridge(const MatrixXd& scaled,
                                    const VectorXd& kappa,
                                    const SpatialOptions& options) {
    SpatialSolution solution;
    const VectorXd spectrum = symmetric_eigenvalues(scaled);
    if (!(spectrum(0) > 1e-12 * spectrum(spectrum.size() - 1))) return solution;
    DualProblem problem(scaled, kappa);
    const DualPoint point = problem.maximise(kappa.cwiseInverse(), options);
    solution.iterations = problem.evaluations();
    solution.lower_bound = point.bound;
    if (point.root.minCoeff() > 0) {
        solution.covariance = problem.feasible_covariance(point);
        solution.value = scaled.cwiseProduct(solution.covariance).sum();
    }
    return solution;
}

bool solves(const SpatialSolution& solution, const VectorXd& kappa, const SpatialOptions& options) {
    return solution.covariance.size() > 0 && solution.relative_gap() <= options.relative_gap &&
           relative_variance(solution.covariance, kappa) <= options.variance_cap;
}

}  // namespace

SpatialSolution solve_spatial_covariance(const MatrixXd& utility,
                                         const VectorXd& kappa,
                                         const SpatialOptions& options) {
    require_kappa(kappa);
    require_variance_cap(options.variance_cap);
    require_utility_of(utility, kappa.size());
    if (!(utility.trace() > 0)) throw ConfigError("utility matrix: must not be zero");
    const double unit = utility.trace() / static_cast<double>(utility.rows());
    const MatrixXd scaled = utility / unit;

    SpatialSolution solution = solve_without_ridge(scaled, kappa, options);
    if (!solves(solution, kappa, options)) {
        const int before = solution.iterations;
        solution = solve_along_ridge(scaled, kappa, options, solution.lower_bound);
        solution.iterations += before;
    }
    if (solution.status != SpatialStatus::capped && solution.relative_gap() <= options.relative_gap)
        solution.status = SpatialStatus::optimal;
    solution.value *= unit;
    solution.lower_bound *= unit;
    solution.ridge *= unit;
    return solution;
}

using Eigen::MatrixXd;
using Eigen::VectorXd;

DualPoint DualProblem::evaluate(VectorXd lambda) {
    ++evaluations_;
    const VectorXd weight = lambda.cwiseSqrt();
    SymmetricEigen eigen = symmetric_eigen(weight.asDiagonal() * utility_ * weight.asDiagonal());
    DualPoint point;
    point.basis = std::move(eigen.vectors);
    // Eigenvalues below rounding level are zeros of a singular M.
    const double noise = 1e-14 * eigen.values(eigen.values.size() - 1);
    point.root = (eigen.values.array() > noise).select(eigen.values.cwiseSqrt(), 0.0);
    const double trace = point.root.sum();
    const double factor = trace / kappa_.dot(lambda);  // S scales with the square root of lambda
    point.lambda = lambda * (factor * factor);
    point.root *= factor;
    point.diagonal = point.basis.cwiseAbs2() * point.root;
    point.bound = trace * factor;
    return point;
}

VectorXd DualProblem::newton_direction(const DualPoint& point) const {
    const Eigen::Index n = point.root.size();
    const double largest = point.root.maxCoeff();
    const double smallest = std::max(point.root.minCoeff(), 1e-9 * largest);
    constexpr double step = 1.0;
    const double first = std::log(1 / largest) - 4.5;
    const double last = std::log(1 / smallest) + 1.2;
    MatrixXd curvature = MatrixXd::Zero(n, n);  // lower triangle
    MatrixXd factor(n, n);
    for (double x = first; x <= last + step; x += step) {
        const double t = std::exp(x);
        const VectorXd half =
            (point.root.array() * (-point.root.array() * t).exp()).sqrt().matrix();
        factor.setZero();
        add_gram(half.asDiagonal() * point.basis.transpose(), factor);
        curvature.array() += (step * t) * factor.array().square();
    }
    // Agents with a slack constraint have lambda_u near 0 and tiny rows: equilibrate first.
    const VectorXd scale = curvature.diagonal().cwiseSqrt().cwiseInverse();
    curvature = scale.asDiagonal() * curvature * scale.asDiagonal();
    curvature.diagonal().array() += 1e-13;
    const VectorXd residual = point.diagonal - kappa_.cwiseProduct(point.lambda);
    const Eigen::LDLT<MatrixXd, Eigen::Lower> solver(curvature);
    return scale.cwiseProduct(solver.solve(scale.cwiseProduct(residual)));
}

MatrixXd DualProblem::feasible_covariance(const DualPoint& point) const {
    const VectorXd weight = point.lambda.cwiseSqrt();
    // X_uu = S_uu / lambda_u.
    const VectorXd stretch =
        (point.diagonal.array() / point.lambda.array() / kappa_.array()).sqrt() * weight.array();
    const VectorXd deviation = point.root.cwiseSqrt().cwiseInverse();
    const MatrixXd scaled = stretch.asDiagonal() * point.basis * deviation.asDiagonal();
    MatrixXd covariance = MatrixXd::Zero(scaled.rows(), scaled.rows());
    add_gram(scaled.transpose(), covariance);
    return covariance.selfadjointView<Eigen::Lower>();
}

double DualProblem::gap(const DualPoint& point) const {
    return (point.diagonal.array() / point.lambda.array() / kappa_.array()).maxCoeff() - 1;
}

DualPoint DualProblem::maximise(VectorXd start, const SpatialOptions& options) {
    DualPoint point = evaluate(std::move(start));
    const int last_evaluation = evaluations_ + options.max_iterations;
    while (evaluations_ < last_evaluation && gap(point) > options.relative_gap) {
        const VectorXd direction = newton_direction(point);
        bool improved = false;
        for (double length = 1; length > 1e-2 && !improved; length *= 0.4) {
            const VectorXd exponent = (length * direction).cwiseMax(-2.5).cwiseMin(2.5);
            DualPoint next = evaluate(point.lambda.cwiseProduct(exponent.array().exp().matrix()));
            // Near the optimum the bound is flat to rounding while the gap still falls.
            improved = next.bound > point.bound ||
                       (next.bound > point.bound * (1 - 1e-13) && gap(next) < 0.5 * gap(point));
            if (improved) point = std::move(next);
        }
        if (!improved) break;
    }
    return point;
}

namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// The optimum of M + ridge I for one ridge, measured against M itself.
struct RidgePoint {
    double ridge = 0;
    VectorXd lambda;
    MatrixXd covariance;
    double largest = 0;  // relative variance; decreases as the ridge grows
    double value = 0;    // Tr(M R)
};

/// Follows the optimum as the ridge falls. If M is singular, the optimum either diverges (the cap
/// ends the path) or has lambda_u -> 0 for an agent with a slack constraint (rounding ends it).
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
        DualProblem problem(std::move(lifted), kappa_);
        const DualPoint optimum = problem.maximise(start, options_);
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
    /// Lambda^1/2, which keeps digits of small ones that an eigendecomposition of the square would
    /// lose.
    [[nodiscard]] double lower_bound(const VectorXd& lambda) {
        ++evaluations_;
        const MatrixXd product = root_ * lambda.cwiseSqrt().asDiagonal();
        const double trace = Eigen::JacobiSVD<MatrixXd>(product).singularValues().sum();
        return trace * trace / kappa_.dot(lambda);
    }

    [[nodiscard]] int evaluations() const { return evaluations_; }

  private:
    MatrixXd utility_;
    VectorXd kappa_;
    SpatialOptions options_;
    MatrixXd root_;
    int evaluations_ = 0;
};

/// Smallest ridge within the cap, to 3% of it: secant steps in the logarithms, inside the bracket.
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

}  // namespace

double relative_variance(const MatrixXd& covariance, const VectorXd& kappa) {
    return covariance.diagonal().cwiseProduct(kappa).maxCoeff();
}

SpatialSolution solve_along_ridge(const MatrixXd& utility,
                                  const VectorXd& kappa,
                                  const SpatialOptions& options,
                                  double lower_bound) {
    SpatialSolution solution;
    solution.lower_bound = lower_bound;
    double ratio = 1.0 / 30;
    RidgePath path(utility, kappa, options);
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
        // lambda follows a power of the ridge: extrapolate it.
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
        // Rounding: take a smaller step, and extrapolate for the bound, which holds for any lambda.
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
    solution.iterations = path.evaluations();
    return solution;
}

}  // namespace sotto
