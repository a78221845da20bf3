#include "design/coalition_newton.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "core/linear_algebra.hpp"
#include "core/numbers.hpp"
#include "core/parallel.hpp"
#include "design/coalition_point.hpp"
#include "design/solver_input.hpp"
#include "privacy/protection.hpp"

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

/// Sums over the coalitions of a part.
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
            // Only the lower triangle is used; a shared unknown pairs with itself twice.
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

/// Adds the constraints of a part, from their slopes.
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
            // Includes the curvature of the constraint; negative only far inside, where the Hessian
            // without it is still positive.
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

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

/// Largest part of the way to the boundary that a step may take.
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

/// The longest share of a step, up to 1, that keeps positive quantities positive. First-order
/// slacks suffice: slacks are concave and fall at least that fast.
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

using Eigen::VectorXd;

namespace {

/// Smallest target of the mean complementarity, as a share of the present one. If only a short step
/// could be taken, the next ones aim higher.
constexpr double centring = 0.15;
constexpr double most_cautious = 0.8;
/// Adds the most violated coalitions.
/// @return the largest excess over all coalitions.
double add_violated(CoalitionProblem& problem, const VectorXd& phi, int size) {
    constexpr std::size_t most_at_once = 60;
    std::vector<std::pair<double, Coalition>> violated;
    double worst = 0;
    for_each_coalition(problem.agents(), size, [&](const Coalition& coalition) {
        const double excess = problem.excess(phi, coalition);
        worst = std::max(worst, excess);
        if (excess > 1 + 1e-9) violated.emplace_back(excess, coalition);
    });
    std::sort(violated.begin(), violated.end(), std::greater<>());
    if (violated.size() > most_at_once) violated.resize(most_at_once);
    for (auto& entry : violated) problem.add(std::move(entry.second));
    return worst;
}

/// Prices times slacks at the start, as a share of the cost.
constexpr double share_of_first_prices = 1e-2;

/// Where the path starts. Pair noise of about the right amount matters: with far too little, as
/// many exchanges need, steps are short for a long time.
VectorXd first_point(const CoalitionProblem& problem) {
    if (problem.shape() == GroupNoise::difference) {
        constexpr double louder = 1.3;  // away from the limits
        const GroupLayout layout(
            problem.agents(), problem.groups(), problem.shape(), problem.common_variance());
        VectorXd first = louder * first_values(layout,
                                               layout.along(problem.utility()),
                                               problem.cap(),
                                               problem.kappa(),
                                               problem.coalitions());
        if (feasible_point(problem, first)) return first;
    }
    return problem.start();
}

}  // namespace

CoalitionPath::CoalitionPath(CoalitionProblem problem, const CoalitionOptions& options)
    : problem_(std::move(problem)),
      options_(options),
      all_(count_coalitions(problem_.agents(), options.coalition_size) <= few_coalitions) {
    begin(first_point(problem_));
}

void CoalitionPath::begin(VectorXd phi) {
    restart(std::move(phi), share_of_first_prices);
    target_ = complementarity(problem_, point_);
    aim_ = centring;
}

void CoalitionPath::follow() {
    const auto to_the_end = [&] {
        while (iterations_ < options_.max_iterations && advance()) {
        }
        return best_value_ - best_bound_ <= options_.relative_gap * best_value_;
    };
    // Near its limits the first point can be so far off the path that no step gets back to it: then
    // again from far inside, where a problem of free blocks starts anyway.
    if (!to_the_end() && problem_.shape() == GroupNoise::difference) {
        begin(problem_.start());
        (void)to_the_end();
    }
    if (best_.size() == 0) (void)check_all();
}

void CoalitionPath::restart(VectorXd phi, double share) {
    std::optional<CoalitionPoint> point = feasible_point(problem_, std::move(phi));
    if (!point) throw_cap_too_small(options_.variance_cap, options_.common_variance);
    point_ = *std::move(point);
    point_.price = balanced_prices(problem_, point_, share * problem_.cost().dot(point_.phi));
    last_gap_ = last_present_ = infinity;
}

/// One step. False if it was the last.
bool CoalitionPath::advance() {
    ++iterations_;
    CoalitionStep step = take_step(problem_, point_, target_);
    if (step.length > 0) point_ = std::move(step.point);
    best_bound_ = std::max(best_bound_, certified_lower_bound(problem_, point_));
    const double value = excess(problem_, point_) * problem_.cost().dot(point_.phi);
    const bool solved = value - best_bound_ <= 0.5 * options_.relative_gap * value;
    if (all_ || solved || step.length == 0) {
        const double worst = check_all();
        if (best_value_ - best_bound_ <= options_.relative_gap * best_value_ || step.length == 0)
            return false;
        if (!all_ && solved) restart(1.02 * std::max(1.0, worst) * point_.phi, 1e-4);
    }
    const double present = complementarity(problem_, point_);
    if (stalled(std::min(best_value_, value) - best_bound_, present)) return false;
    if (present < 1e-13 * problem_.cost().dot(point_.phi)) return false;  // rounding decides
    // A short step means that the point is off the path: return to it first.
    if (step.length < 0.5) aim_ = std::min(most_cautious, std::sqrt(aim_));
    if (step.length > 0.8) aim_ = std::max(centring, aim_ * aim_);
    target_ = (step.length > 0.2 ? aim_ : 1.0) * present;
    return true;
}

/// Adds the most violated of all coalitions.
/// @return the largest excess.
double CoalitionPath::check_all() {
    const double worst = all_ ? excess(problem_, point_)
                              : add_violated(problem_, point_.phi, options_.coalition_size);
    const double value = worst * problem_.cost().dot(point_.phi);
    if (value < best_value_) {
        best_ = worst * point_.phi;
        best_value_ = value;
    }
    return worst;
}

/// If M is singular rounding ends the progress before the gap is met.
bool CoalitionPath::stalled(double gap, double present) {
    constexpr int patience = 25;
    if (gap < 0.9 * last_gap_ || present < 0.9 * last_present_) {
        last_gap_ = std::min(last_gap_, gap);
        last_present_ = present;
        last_progress_ = iterations_;
    }
    return iterations_ - last_progress_ > patience;
}

using Eigen::Index;
using Eigen::Map;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

/// Shared noise only, with a mean diagonal of 1 / min kappa; equal in all groups, or more where
/// members are in few groups and it costs less.
VectorXd shared_noise(const GroupLayout& layout,
                      const VectorXd& cost,
                      const VectorXd& kappa,
                      bool even) {
    VectorXd shared = VectorXd::Zero(layout.size());
    for (std::size_t k = 0; k < layout.groups().size(); ++k) {
        const std::vector<int>& members = layout.groups()[k].members;
        const Index rank = layout.rank(k);
        Map<MatrixXd> block(shared.data() + layout.first(k), rank, rank);
        if (rank == 1)
            block.setOnes();
        else
            block = 1.1 * MatrixXd::Identity(rank, rank) -
                    MatrixXd::Constant(rank, rank, 1 / static_cast<double>(members.size()));
        if (even) continue;
        std::size_t fewest = layout.groups().size();
        for (const int u : members) fewest = std::min(fewest, layout.groups_of(u).size());
        const Map<const MatrixXd> costs(cost.data() + layout.first(k), rank, rank);
        block /= static_cast<double>(fewest) * std::sqrt(costs.trace());
    }
    return shared / (layout.diagonal(shared).mean() * kappa.minCoeff());
}

/// Multiplies private variances by the largest lack.
void follow_lack(const GroupLayout& layout, const VectorXd& excess, VectorXd& values) {
    VectorXd lack = VectorXd::Zero(layout.variances());
    for (int u = 0; u < layout.agents(); ++u) {
        double& most = lack(layout.variance_of(u));
        most = std::max(most, excess(u));
    }
    values.head(layout.variances()).array() *= lack.array();
}

}  // namespace

VectorXd private_values(const GroupLayout& layout, const VectorXd& kappa) {
    VectorXd values = VectorXd::Zero(layout.size());
    for (int u = 0; u < layout.agents(); ++u) {
        double& variance = values(layout.variance_of(u));
        variance = std::max(variance, 1 / kappa(u));
    }
    return values;
}

VectorXd first_values(const GroupLayout& layout,
                      const VectorXd& cost,
                      const VectorXd& cap,
                      const VectorXd& kappa,
                      const std::vector<Coalition>& coalitions) {
    const VectorXd own = private_values(layout, kappa);
    if (layout.groups().empty()) return own;
    VectorXd best;
    double best_value = infinity;
    for (const bool even : {true, false}) {
        const VectorXd shared = shared_noise(layout, cost, kappa, even);
        const double room =
            (cap - layout.diagonal(own)).cwiseQuotient(layout.diagonal(shared)).minCoeff();
        for (const double share : {0.03, 0.3, 3., 30.}) {
            VectorXd values = own + std::min(share, std::max(0.5 * room, 1e-9)) * shared;
            constexpr int steps = 3;
            for (int step = 0; step <= (even ? 0 : steps); ++step) {
                const VectorXd excess = excess_of_agents(layout, values, kappa, coalitions);
                const double worst = excess.maxCoeff();
                if (!std::isfinite(worst)) break;
                if (const double value = worst * cost.dot(values); value < best_value) {
                    best_value = value;
                    best = worst * values;
                }
                follow_lack(layout, excess, values);
            }
        }
    }
    return best;
}

bool is_uneven(const GroupLayout& layout) {
    constexpr double many_times = 8;
    double most = 0, sum = 0;
    for (int u = 0; u < layout.agents(); ++u) {
        most = std::max(most, layout.partners_of(u));
        sum += layout.partners_of(u);
    }
    return most * layout.agents() > many_times * sum;
}

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

/// P, sum kappa lambda, and -grad P.
struct PricedPrecision {
    double reward = 0, limit = 0;
    VectorXd private_slope;
    std::vector<MatrixXd> slope;  // on the block of each group
};

PricedPrecision priced_precision(const CoalitionProblem& problem, const CoalitionPoint& point) {
    const std::vector<SeedGroup>& groups = problem.groups();
    PricedPrecision priced;
    for (const SeedGroup& group : groups) {
        const auto size = static_cast<Index>(group.members.size());
        priced.slope.emplace_back(MatrixXd::Zero(size, size));
    }
    priced.private_slope = VectorXd::Zero(problem.agents());
    for (std::size_t c = 0; c < problem.coalitions().size(); ++c) {
        const MatrixXd& inverse = point.precision[c];
        // A price of 1/f >= 1/kappa is one of f <= kappa times f^2.
        VectorXd price = point.price.limit.col(static_cast<Index>(c));
        for (int u = 0; u < problem.agents(); ++u)
            if (price(u) > 0) price(u) /= inverse(u, u) * inverse(u, u);
        priced.reward += price.dot(inverse.diagonal());
        priced.limit += price.dot(problem.kappa());
        const MatrixXd square = inverse * price.asDiagonal() * inverse;
        priced.private_slope += square.diagonal();
        for (std::size_t k = 0; k < groups.size(); ++k)
            if (!meets(groups[k], problem.coalitions()[c]))
                priced.slope[k] += square(groups[k].members, groups[k].members);
    }
    return priced;
}

/// Smallest a with slope <= a block on the noise of one group.
double slope_ratio(const MatrixXd& slope, const MatrixXd& block, GroupNoise shape) {
    if (shape == GroupNoise::difference) {
        const auto difference = [](const MatrixXd& a) { return a(0, 0) + a(1, 1) - 2 * a(0, 1); };
        return difference(slope) / difference(block);
    }
    // Of L^-1 slope L^-T, block = L L^T.
    const Eigen::LLT<MatrixXd> factor(block);
    if (factor.info() != Eigen::Success) return infinity;
    const MatrixXd half = factor.matrixL().solve(slope);
    const MatrixXd ratio = factor.matrixL().solve(half.transpose());
    return symmetric_eigenvalues(ratio).maxCoeff();
}

/// Smallest a^2 with slope <= a^2 costs, for private noise and on the block of every group.
double largest_slope(const CoalitionProblem& problem,
                     const PricedPrecision& priced,
                     const MatrixXd& costs) {
    double largest = problem.common_variance()
                         ? priced.private_slope.sum() / costs.trace()
                         : priced.private_slope.cwiseQuotient(costs.diagonal()).maxCoeff();
    for (std::size_t k = 0; k < problem.groups().size(); ++k) {
        const auto& members = problem.groups()[k].members;
        largest = std::max(largest,
                           slope_ratio(priced.slope[k], costs(members, members), problem.shape()));
    }
    return largest;
}

}  // namespace

double certified_lower_bound(const CoalitionProblem& problem, const CoalitionPoint& point) {
    const PricedPrecision priced = priced_precision(problem, point);
    // Any prices of the cap are valid. If M is singular on a block, rounding in the slope must not
    // be divided by almost nothing: try slightly larger costs.
    double best = 0;
    for (double more = 0; more < 1e-4; more = more == 0 ? 1e-13 : 10 * more) {
        const VectorXd cap_price = point.price.cap.array() + more;
        const MatrixXd costs = problem.utility() + MatrixXd(cap_price.asDiagonal());
        const double largest = largest_slope(problem, priced, costs);
        best = std::max(best,
                        priced.reward * priced.reward / (largest * priced.limit) -
                            cap_price.dot(problem.cap()));
    }
    return best;
}

}  // namespace sotto
