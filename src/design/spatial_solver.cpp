#include "sotto/design/spatial_solver.hpp"

#include "design/solver_input.hpp"
#include "design/spatial_dual.hpp"
#include "design/spatial_ridge.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/linear_algebra.hpp"

namespace sotto {

namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Where M is regular and the cap does not bind.
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

}  // namespace sotto
