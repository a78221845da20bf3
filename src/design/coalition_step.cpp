#include "design/coalition_step.hpp"

#include <algorithm>

#include "design/coalition_newton.hpp"
#include "sotto/core/linear_algebra.hpp"

namespace sotto {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

/// Share of the way to the boundary that a step may go.
constexpr double inside = 0.95;

/// The full step.
struct Change {
    VectorXd phi;
    MatrixXd slack;
    CoalitionPrices price;
};

/// -hessian^-1 gradient; nothing if the Hessian is not positive definite.
std::optional<VectorXd> newton_direction(MatrixXd hessian, const VectorXd& gradient) {
    // Unknowns differ by many orders of magnitude near the end.
    const VectorXd scale = hessian.diagonal().cwiseSqrt().cwiseInverse();
    hessian = scale.asDiagonal() * hessian * scale.asDiagonal();
    hessian.diagonal().array() += 1e-13;
    MatrixXd right = -scale.cwiseProduct(gradient);
    if (!solve_positive_definite(hessian, right)) return std::nullopt;
    return scale.cwiseProduct(right.col(0));
}

Change change_along(const CoalitionProblem& problem,
                    const NewtonSystem& system,
                    const CoalitionPoint& point,
                    double target,
                    VectorXd direction) {
    Change change;
    const CoalitionPrices& price = point.price;
    const MatrixXd moved = slack_change(problem, system, direction);
    change.slack = change.price.limit = MatrixXd::Zero(moved.rows(), moved.cols());
    for (Index c = 0; c < moved.cols(); ++c)
        for (Index u = 0; u < moved.rows(); ++u)
            if (price.limit(u, c) > 0) {
                change.slack(u, c) = moved(u, c);
                change.price.limit(u, c) =
                    (target - price.limit(u, c) * moved(u, c)) / point.slack(u, c) -
                    price.limit(u, c);
            }
    change.price.cap = (target + (price.cap.array() * (system.cap_slopes * direction).array())) /
                           point.room.array() -
                       price.cap.array();
    const Index signs = problem.nonnegative();
    change.price.zero = (target - price.zero.array() * direction.head(signs).array()) /
                            point.phi.head(signs).array() -
                        price.zero.array();
    change.phi = std::move(direction);
    return change;
}

/// The longest share of a step, up to 1, that keeps what is positive so; slacks to first order:
/// they are concave, and fall at least as fast as their slopes say.
double longest_step(const CoalitionProblem& problem,
                    const CoalitionPoint& point,
                    const Change& change) {
    double length = 1;
    const auto limit = [&](const auto& value, const auto& move) {
        for (Index j = 0; j < value.cols(); ++j)
            for (Index i = 0; i < value.rows(); ++i)
                if (move(i, j) < 0) length = std::min(length, -inside * value(i, j) / move(i, j));
    };
    const Index signs = problem.nonnegative();
    limit(point.slack, change.slack);
    limit(point.price.limit, change.price.limit);
    limit(point.price.cap, change.price.cap);
    limit(point.price.zero, change.price.zero);
    limit(point.phi.head(signs), change.phi.head(signs));
    return length;
}

}  // namespace

CoalitionStep take_step(const CoalitionProblem& problem,
                        const CoalitionPoint& point,
                        double target) {
    NewtonSystem system = newton_system(problem, point, target);
    std::optional<VectorXd> direction =
        newton_direction(std::move(system.hessian), system.gradient);
    if (!direction) return {};
    const Change change = change_along(problem, system, point, target, *std::move(direction));
    double length = longest_step(problem, point, change);
    for (; length > 1e-8; length *= 0.7) {
        std::optional<CoalitionPoint> next =
            feasible_point(problem, point.phi + length * change.phi);
        if (!next || !problem.blocks_positive(next->phi - (1 - inside) * point.phi)) continue;
        if (!((next->slack.array() >= (1 - inside) * point.slack.array()).all())) continue;
        next->price = {point.price.limit + length * change.price.limit,
                       point.price.cap + length * change.price.cap,
                       point.price.zero + length * change.price.zero};
        return {length, *std::move(next)};
    }
    return {};
}

}  // namespace sotto
