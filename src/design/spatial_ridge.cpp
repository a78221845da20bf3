#include "design/spatial_ridge.hpp"

#include <Eigen/SVD>
#include <algorithm>
#include <cmath>

#include "design/spatial_dual.hpp"
#include "sotto/core/linear_algebra.hpp"

namespace sotto {

namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

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
    MatrixXd utility_;
    VectorXd kappa_;
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
    solution.iterations = path.evaluations();
    return solution;
}

}  // namespace sotto
