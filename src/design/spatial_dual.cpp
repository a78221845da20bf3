#include "design/spatial_dual.hpp"

#include <algorithm>
#include <cmath>

#include "sotto/core/linear_algebra.hpp"

namespace sotto {

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
    const double factor = trace / kappa_.dot(lambda);  // S scales with its square root's square
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
    // Agents whose constraint is slack have lambda_u near 0 and tiny rows: equilibrate first.
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

}  // namespace sotto
