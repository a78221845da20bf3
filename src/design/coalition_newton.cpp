#include "design/coalition_newton.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "sotto/core/linear_algebra.hpp"
#include "sotto/core/parallel.hpp"

namespace sotto {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using Term = CoalitionTerm;

namespace {

/// Calls f(coalition, first row of its agents) for the coalitions of a part.
template <class Function>
void for_each_of_part(const CoalitionProblem& problem, Index part, Function&& f) {
    const auto count = static_cast<Index>(problem.coalitions().size());
    for (Index c = part, row = 0; c < count; c += coalition_parts, row += problem.agents())
        f(c, row);
}

/// What the coalitions of a part give.
struct CoalitionSums {
    MatrixXd hessian;  // lower triangle
    MatrixXd slopes;
};

void add_coalition(const CoalitionProblem& problem,
                   const CoalitionPoint& point,
                   Index index,
                   Index first_row,
                   CoalitionSums& sums) {
    const auto& coalition = problem.coalitions()[static_cast<std::size_t>(index)];
    const MatrixXd& inverse = point.precision[static_cast<std::size_t>(index)];
    VectorXd inverse_square = VectorXd::Zero(problem.agents());
    for (int u = 0; u < problem.agents(); ++u)
        if (inverse(u, u) > 0) inverse_square(u) = 1 / (inverse(u, u) * inverse(u, u));
    const VectorXd weight = point.price.limit.col(index).cwiseProduct(inverse_square);
    const MatrixXd square = inverse * weight.asDiagonal() * inverse;
    const std::vector<Term> terms = problem.unknown_terms(coalition);
    VectorXd y(problem.agents()), q(problem.agents());
    for (std::size_t j = 0; j < terms.size(); ++j) {
        const Term& right = terms[j];
        y = inverse.col(right.u);
        q = square.col(right.u);
        if (right.v >= 0) {
            y -= inverse.col(right.v);
            q -= square.col(right.v);
        }
        sums.slopes.col(right.unknown).segment(first_row, problem.agents()).array() +=
            inverse_square.array() * y.array().square();
        for (std::size_t i = 0; i <= j; ++i) {
            const Term& left = terms[i];
            double by_inverse = y(left.u), by_square = q(left.u);
            if (left.v >= 0) {
                by_inverse -= y(left.v);
                by_square -= q(left.v);
            }
            const double entry = 2 * by_inverse * by_square;
            // Only the lower triangle is used; a shared unknown meets itself twice.
            const bool twice = left.unknown == right.unknown && i != j;
            sums.hessian(right.unknown, left.unknown) += twice ? 2 * entry : entry;
        }
    }
}

std::vector<CoalitionSums> sums_of_parts(const CoalitionProblem& problem,
                                         const CoalitionPoint& point) {
    const Index unknowns = problem.unknowns();
    std::vector<CoalitionSums> sums(coalition_parts);
    parallel_for(coalition_parts, problem.threads(), [&](long part) {
        CoalitionSums& own = sums[static_cast<std::size_t>(part)];
        const auto count = static_cast<Index>(problem.coalitions().size());
        own.hessian = MatrixXd::Zero(unknowns, unknowns);
        own.slopes = MatrixXd::Zero(
            (count - part + coalition_parts - 1) / coalition_parts * problem.agents(), unknowns);
        for_each_of_part(
            problem, part, [&](Index c, Index row) { add_coalition(problem, point, c, row, own); });
    });
    return sums;
}

/// Of the constraints of a part: from their slopes.
void add_slacks(const CoalitionProblem& problem,
                const CoalitionPoint& point,
                double target,
                Index part,
                NewtonSystem& system) {
    MatrixXd weighted = system.slack_slopes[static_cast<std::size_t>(part)];
    for_each_of_part(problem, part, [&](Index c, Index row) {
        const auto slack = point.slack.col(c).array();
        const VectorXd push = (slack.inverse() * target).matrix();
        system.gradient -= weighted.middleRows(row, problem.agents()).transpose() * push;
        for (int u = 0; u < problem.agents(); ++u) {
            // Curvature of the constraint included; negative only far inside, where the
            // Hessian without it is still positive.
            const double f = point.precision[static_cast<std::size_t>(c)](u, u);
            const double weight = point.price.limit(u, c) * (1 / point.slack(u, c) - 2 * f);
            weighted.row(row + u) *= std::sqrt(std::max(0.0, weight));
        }
    });
    add_gram(weighted, system.hessian);
}

void add_signs(const CoalitionProblem& problem,
               const CoalitionPoint& point,
               double target,
               NewtonSystem& system) {
    for (Index p = 0; p < problem.nonnegative(); ++p) {
        system.gradient(p) -= target / point.phi(p);
        system.hessian(p, p) += point.price.zero(p) / point.phi(p);
    }
}

void add_caps(const CoalitionProblem& problem,
              const CoalitionPoint& point,
              double target,
              NewtonSystem& system) {
    system.cap_slopes = MatrixXd::Zero(problem.agents(), problem.unknowns());
    for (const Term& term : problem.terms()) {
        system.cap_slopes(term.u, term.unknown) += 1;
        if (term.v >= 0) system.cap_slopes(term.v, term.unknown) += 1;
    }
    system.gradient += system.cap_slopes.transpose() * (target * point.room.cwiseInverse());
    const VectorXd weight = point.price.cap.cwiseQuotient(point.room).cwiseSqrt();
    add_gram(weight.asDiagonal() * system.cap_slopes, system.hessian);
}

/// The inverse of R_k, agents x agents, zero outside its members.
MatrixXd group_inverse(const CoalitionProblem& problem, const VectorXd& phi, std::size_t group) {
    const MatrixXd matrix = problem.group_matrix(phi, group);
    const MatrixXd small =
        Eigen::LLT<MatrixXd>(matrix).solve(MatrixXd::Identity(matrix.rows(), matrix.cols()));
    MatrixXd inverse = MatrixXd::Zero(problem.agents(), problem.agents());
    const auto& members = problem.groups()[group].members;
    inverse(members, members) = small;
    return inverse;
}

/// -target log det of every free block.
void add_block_barrier(const CoalitionProblem& problem,
                       const VectorXd& phi,
                       double target,
                       NewtonSystem& system) {
    for (std::size_t k = 0; k < problem.groups().size(); ++k) {
        const MatrixXd inverse = group_inverse(problem, phi, k);
        const auto terms = problem.terms_of(k);
        for (std::size_t p = 0; p < terms.size(); ++p) {
            system.gradient(terms[p].unknown) -= target * along(inverse, terms[p], terms[p]);
            for (std::size_t q = 0; q <= p; ++q) {
                const double entry = along(inverse, terms[p], terms[q]);
                system.hessian(terms[p].unknown, terms[q].unknown) += target * entry * entry;
            }
        }
    }
}

}  // namespace

NewtonSystem newton_system(const CoalitionProblem& problem,
                           const CoalitionPoint& point,
                           double target) {
    NewtonSystem system;
    system.gradient = problem.cost();
    system.hessian = MatrixXd::Zero(problem.unknowns(), problem.unknowns());
    for (CoalitionSums& sums : sums_of_parts(problem, point)) {
        system.hessian += sums.hessian;
        sums.hessian.resize(0, 0);
        system.slack_slopes.push_back(std::move(sums.slopes));
        add_slacks(problem, point, target, std::ssize(system.slack_slopes) - 1, system);
    }
    add_signs(problem, point, target, system);
    add_caps(problem, point, target, system);
    if (problem.shape() == GroupNoise::free) add_block_barrier(problem, point.phi, target, system);
    return system;
}

MatrixXd slack_change(const CoalitionProblem& problem,
                      const NewtonSystem& system,
                      const VectorXd& direction) {
    MatrixXd change(problem.agents(), static_cast<Index>(problem.coalitions().size()));
    for (std::size_t part = 0; part < system.slack_slopes.size(); ++part) {
        const VectorXd moved = system.slack_slopes[part] * direction;
        for_each_of_part(problem, static_cast<Index>(part), [&](Index c, Index row) {
            change.col(c) = moved.segment(row, problem.agents());
        });
    }
    return change;
}

}  // namespace sotto
