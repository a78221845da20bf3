#include "design/spatial_solver.hpp"

#include <Eigen/SVD>
#include <algorithm>
#include <boost/math/tools/minima.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "core/linear_algebra.hpp"
#include "design/solver_input.hpp"
#include "privacy/protection.hpp"
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

namespace {

/// Noise unknown to one coalition: s2 I + c L of the graph without it.
struct RemainingGraph {
    RemainingGraph(const MatrixXd& laplacian,
                   const VectorXd& all_kappa,
                   const std::vector<int>& coalition) {
        std::vector<Eigen::Index> outside;
        for (Eigen::Index u = 0; u < laplacian.rows(); ++u)
            if (!std::binary_search(coalition.begin(), coalition.end(), static_cast<int>(u)))
                outside.push_back(u);
        kappa = all_kappa(outside);
        MatrixXd remaining = laplacian(outside, outside);
        // Its edges to the coalition are gone.
        remaining.diagonal().setZero();
        const VectorXd degree = -remaining.rowwise().sum();
        remaining.diagonal() = degree;
        SymmetricEigen eigen = symmetric_eigen(remaining);
        values = eigen.values.cwiseMax(0);
        squares = eigen.vectors.cwiseAbs2();
    }
    VectorXd kappa;
    VectorXd values;   // eigenvalues of L
    MatrixXd squares;  // of the entries of its eigenvectors
};

/// R = s2 (I + ratio L), with the smallest s2 that satisfies every agent against every coalition.
class LaplacianFamily {
  public:
    LaplacianFamily(const MatrixXd& utility,
                    const MatrixXd& laplacian,
                    const VectorXd& kappa,
                    int coalition_size)
        : kappa_(kappa) {
        private_cost_ = utility.trace();
        // Zero on the complete graph, up to rounding.
        edge_cost_ = std::max(0.0, utility.cwiseProduct(laplacian).sum());
        degree_ = laplacian.diagonal();
        for_each_coalition(
            static_cast<int>(kappa.size()), coalition_size, [&](const std::vector<int>& coalition) {
                views_.emplace_back(laplacian, kappa, coalition);
            });
    }

    [[nodiscard]] double private_variance(double ratio) const {
        double variance = 0;
        for (const RemainingGraph& view : views_) {
            const VectorXd gains = (1 + ratio * view.values.array()).inverse().matrix();
            variance =
                std::max(variance, (view.squares * gains).cwiseQuotient(view.kappa).maxCoeff());
        }
        return variance;
    }
    [[nodiscard]] double value(double ratio) const {
        return private_variance(ratio) * (private_cost_ + ratio * edge_cost_);
    }
    /// Largest R_uu kappa_u.
    [[nodiscard]] double relative_variance(double ratio) const {
        return private_variance(ratio) *
               ((1 + ratio * degree_.array()) * kappa_.array()).maxCoeff();
    }

    /// Smallest cost over (s2, c) >= 0 that satisfies the constraints linearised at a point. They
    /// are convex, so every feasible point satisfies the linearisation: a lower bound.
    [[nodiscard]] double lower_bound(double ratio) const {
        const double s2 = private_variance(ratio);
        std::vector<HalfPlane> all;
        double least_s2 = 0;
        for (const RemainingGraph& view : views_) {
            const Eigen::ArrayXd inverse = (s2 * (1 + ratio * view.values.array())).inverse();
            // h_u = [R^-1]_uu;  -dh_u/ds2 = |R^-1 e_u|^2,  -dh_u/dc = (R^-1 e_u)^T L (R^-1 e_u).
            const VectorXd precision = view.squares * inverse.matrix();
            const VectorXd private_slope = view.squares * inverse.square().matrix();
            const VectorXd edge_slope =
                view.squares * (inverse.square() * view.values.array()).matrix();
            for (Eigen::Index u = 0; u < view.kappa.size(); ++u)
                all.push_back({private_slope(u),
                               edge_slope(u),
                               precision(u) - view.kappa(u) + private_slope(u) * s2 +
                                   edge_slope(u) * ratio * s2});
            // For every c, [R^-1]_uu >= |q_u|^2 / s2, q the null vectors of L. If edge noise costs
            // nothing (the complete graph), no linearisation implies it.
            const double zero = 1e-10 * std::max(1.0, view.values.maxCoeff());
            const VectorXd null = (view.values.array() <= zero).cast<double>().matrix();
            least_s2 =
                std::max(least_s2, (view.squares * null).cwiseQuotient(view.kappa).maxCoeff());
        }
        all.push_back({1, 0, least_s2});
        return cheapest(all);
    }

  private:
    /// a s2 + b c >= r, a > 0, b >= 0.
    struct HalfPlane {
        double a, b, r;
    };

    /// Smallest cost over all half planes and c >= 0. For given c the smallest s2 is max (r - b c)
    /// / a, so the cost is convex in c with the slope of the binding half plane: bisect to the two
    /// that bind on both sides of the optimum. Their intersection is at most the optimum of all.
    [[nodiscard]] double cheapest(const std::vector<HalfPlane>& planes) const {
        const auto binding = [&](double c) {
            const HalfPlane* best = &planes.front();
            for (const HalfPlane& plane : planes)
                if ((plane.r - plane.b * c) / plane.a > (best->r - best->b * c) / best->a)
                    best = &plane;
            return best;
        };
        const auto slope = [&](const HalfPlane& plane) {
            return edge_cost_ - private_cost_ * plane.b / plane.a;
        };
        const HalfPlane* left = binding(0);
        if (slope(*left) >= 0) return private_cost_ * left->r / left->a;
        double inside = 0, outside = 1 / kappa_.minCoeff();
        const HalfPlane* right = binding(outside);
        while (slope(*right) < 0 && outside < 1e15 / kappa_.minCoeff())
            right = binding(outside *= 4);
        if (slope(*right) < 0) return 0;
        for (int i = 0; i < 200 && outside - inside > 1e-15 * outside; ++i) {
            const double middle = 0.5 * (inside + outside);
            const HalfPlane* plane = binding(middle);
            (slope(*plane) < 0 ? inside : outside) = middle;
            (slope(*plane) < 0 ? left : right) = plane;
        }
        const double determinant = left->a * right->b - left->b * right->a;
        if (!(std::abs(determinant) > 0)) return 0;
        const double s2 = (left->r * right->b - left->b * right->r) / determinant;
        const double c = (left->a * right->r - right->a * left->r) / determinant;
        return private_cost_ * s2 + edge_cost_ * c;
    }

    VectorXd kappa_;
    std::vector<RemainingGraph> views_;
    VectorXd degree_;
    double private_cost_ = 0, edge_cost_ = 0;
};

}  // namespace

LaplacianSolution solve_laplacian_covariance(const MatrixXd& utility,
                                             const MatrixXd& laplacian,
                                             const VectorXd& kappa,
                                             double variance_cap,
                                             int coalition_size) {
    require_kappa(kappa);
    require_variance_cap(variance_cap);
    check_coalition_size(static_cast<int>(kappa.size()), coalition_size);
    check_coalition_count(static_cast<int>(kappa.size()), coalition_size);
    const LaplacianFamily family(utility, laplacian, kappa, coalition_size);
    // Unequal kappa can exceed the cap with private noise alone; the cap is then relative to that.
    const double cap = std::max(variance_cap, family.relative_variance(0) * (1 + 1e-12));

    // log(c/s2): from far below any effect up to the cap.
    double lower = std::log(1e-9), upper = std::log(1e12);
    LaplacianSolution solution;
    if (family.relative_variance(std::exp(upper)) > cap) {
        double inside = lower;
        for (int i = 0; i < 100; ++i) {
            const double middle = 0.5 * (inside + upper);
            (family.relative_variance(std::exp(middle)) <= cap ? inside : upper) = middle;
        }
        upper = inside;
    }
    const auto value = [&](double log_ratio) { return family.value(std::exp(log_ratio)); };
    // Brent's method finds a minimum of a unimodal function to half the digits of its argument,
    // hence all digits of the value.
    double best = boost::math::tools::brent_find_minima(value, lower, upper, 40).first;
    if (value(upper) < value(best)) best = upper;
    double ratio = std::exp(best);
    if (family.value(0) <= family.value(ratio)) ratio = 0;
    solution.capped = ratio > 0 && family.relative_variance(ratio) > 0.999 * cap;
    solution.private_variance = family.private_variance(ratio);
    solution.edge_variance = ratio * solution.private_variance;
    solution.value = family.value(ratio);
    // Where two agents' constraints cross, linearising slightly to both sides tightens the bound.
    for (const double shift : {0.0, -1e-7, 1e-7, -1e-5, 1e-5})
        solution.lower_bound =
            std::max(solution.lower_bound, family.lower_bound(ratio * std::exp(shift)));
    return solution;
}

}  // namespace sotto
