#include "coalition_problem.hpp"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "sotto/core/error.hpp"
#include "sotto/core/linear_algebra.hpp"
#include "sotto/core/numbers.hpp"
#include "sotto/core/parallel.hpp"

namespace sotto {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using Term = CoalitionTerm;

constexpr int most_unknowns = 6000;
/// Parts the coalitions are split into for threads; fixed, so that sums do not depend on them.
constexpr long parts = 4;
/// Share of the way to the boundary that a step may go.
constexpr double inside = 0.95;

/// b^T A c for terms.
double along(const MatrixXd& a, const Term& b, const Term& c) {
    double value = a(b.u, c.u);
    if (c.v >= 0) value -= a(b.u, c.v);
    if (b.v >= 0) value -= a(b.v, c.u);
    if (b.v >= 0 && c.v >= 0) value += a(b.v, c.v);
    return value;
}

}  // namespace

CoalitionProblem::CoalitionProblem(const MatrixXd& utility,
                                   const VectorXd& kappa,
                                   std::span<const SeedGroup> groups,
                                   GroupNoise shape,
                                   const CoalitionOptions& options)
    : utility_(utility),
      kappa_(kappa),
      groups_(groups),
      shape_(shape),
      common_(options.common_variance),
      agents_(static_cast<int>(kappa.size())),
      cap_(options.variance_cap * kappa.cwiseInverse()),
      louder_at_start_(std::min(1.3, std::sqrt(options.variance_cap))) {
    for (int u = 0; u < agents_; ++u)
        terms_.push_back({u, -1, -1, options.common_variance ? 0 : u});
    unknowns_ = options.common_variance ? 1 : agents_;
    nonnegative_ = unknowns_;
    for (std::size_t k = 0; k < groups.size(); ++k) {
        const auto& members = groups[k].members;
        const auto group = static_cast<int>(k);
        first_term_.push_back(terms_.size());
        if (shape == GroupNoise::free)
            for (const int u : members) terms_.push_back({u, -1, group, unknowns_++});
        for (std::size_t i = 0; i < members.size(); ++i)
            for (std::size_t j = i + 1; j < members.size(); ++j)
                terms_.push_back({members[i], members[j], group, unknowns_++});
    }
    first_term_.push_back(terms_.size());
    if (shape == GroupNoise::difference) nonnegative_ = unknowns_;
    if (unknowns_ > most_unknowns)
        throw ConfigError(
            fmt::format("seed-groups: {} unknowns are too many to optimise (at most {}); use "
                        "fewer or smaller groups (--seed-groups edges, or a FILE), or "
                        "--mechanism decor",
                        unknowns_,
                        most_unknowns));
    cost_ = VectorXd::Zero(unknowns_);
    for (const Term& term : terms_) cost_(term.unknown) += along(utility_, term, term);
}

VectorXd CoalitionProblem::start() const {
    VectorXd own = VectorXd::Zero(unknowns_), shared = own;
    const double smallest = kappa_.minCoeff();
    for (const Term& term : terms_) {
        if (term.group < 0)
            own(term.unknown) = std::max(own(term.unknown), louder_at_start_ / kappa_(term.u));
        else if (term.v < 0 || shape_ == GroupNoise::difference)
            shared(term.unknown) = 0.1 / (smallest * agents_);
    }
    // Half of the room below the cap at most: close to it, or to no shared noise, steps are short.
    const VectorXd room = cap_ - variances(own), taken = variances(shared);
    double share = 1;
    for (int u = 0; u < agents_; ++u)
        if (taken(u) > 0) share = std::min(share, 0.5 * room(u) / taken(u));
    return own + std::max(share, 0.0) * shared;
}

int CoalitionProblem::threads() const { return unknowns_ < 200 ? 1 : linear_algebra_threads(); }

VectorXd CoalitionProblem::variances(const VectorXd& phi) const {
    VectorXd variances = VectorXd::Zero(agents_);
    for (const Term& term : terms_) {
        variances(term.u) += phi(term.unknown);
        if (term.v >= 0) variances(term.v) += phi(term.unknown);
    }
    return variances;
}

MatrixXd CoalitionProblem::group_matrix(const VectorXd& phi, std::size_t group) const {
    const auto& members = groups_[group].members;
    const auto place = [&](int agent) {
        return std::lower_bound(members.begin(), members.end(), agent) - members.begin();
    };
    const auto size = static_cast<Index>(members.size());
    MatrixXd matrix = MatrixXd::Zero(size, size);
    for (std::size_t p = first_term_[group]; p < first_term_[group + 1]; ++p) {
        const Term& term = terms_[p];
        const double value = phi(term.unknown);
        const Index i = place(term.u);
        matrix(i, i) += value;
        if (term.v < 0) continue;
        const Index j = place(term.v);
        matrix(j, j) += value;
        matrix(i, j) -= value;
        matrix(j, i) -= value;
    }
    return matrix;
}

double CoalitionProblem::excess(const VectorXd& phi, const Coalition& coalition) const {
    MatrixXd inverse;
    if (!unknown_precision(phi, coalition, inverse)) return infinity;
    return inverse.diagonal().cwiseQuotient(kappa_).maxCoeff();
}

bool CoalitionProblem::complete(Point& point) const {
    if (nonnegative_ > 0 && !(point.phi.head(nonnegative_).minCoeff() > 0)) return false;
    point.room = cap_ - variances(point.phi);
    if (!(point.room.minCoeff() > 0)) return false;
    if (!blocks_positive(point.phi)) return false;
    const auto count = static_cast<Index>(coalitions_.size());
    point.precision.resize(coalitions_.size());
    point.slack = MatrixXd::Ones(agents_, count);
    std::vector<char> feasible(coalitions_.size(), 0);
    parallel_for(parts, threads(), [&](long part) {
        for (Index c = part; c < count; c += parts) {
            const auto place = static_cast<std::size_t>(c);
            MatrixXd& inverse = point.precision[place];
            if (!unknown_precision(point.phi, coalitions_[place], inverse)) continue;
            bool positive = true;
            for (int u = 0; u < agents_; ++u) {
                if (inverse(u, u) == 0) continue;  // in the coalition
                point.slack(u, c) = 1 / inverse(u, u) - 1 / kappa_(u);
                positive = positive && point.slack(u, c) > 0;
            }
            feasible[place] = positive;
        }
    });
    return std::all_of(feasible.begin(), feasible.end(), [](char f) { return f != 0; });
}

void CoalitionProblem::balance(Point& point, double target) const {
    point.price = target * point.slack.cwiseInverse();
    for (std::size_t c = 0; c < coalitions_.size(); ++c)
        for (const int member : coalitions_[c]) point.price(member, static_cast<Index>(c)) = 0;
    point.cap_price = target * point.room.cwiseInverse();
    point.zero_price = target * point.phi.head(nonnegative_).cwiseInverse();
}

double CoalitionProblem::complementarity(const Point& point) const {
    double count = static_cast<double>(nonnegative_ + agents_);
    for (const auto& coalition : coalitions_)
        count += agents_ - static_cast<double>(coalition.size());
    return (point.price.cwiseProduct(point.slack).sum() + point.cap_price.dot(point.room) +
            point.zero_price.dot(point.phi.head(nonnegative_))) /
           count;
}

double CoalitionProblem::step(Point& point, double target) const {
    VectorXd gradient = cost_;  // of cost - target * sum log slack
    MatrixXd hessian = MatrixXd::Zero(unknowns_, unknowns_);
    std::vector<MatrixXd> part_hessian(parts);
    std::vector<MatrixXd> slopes(parts);  // of the slacks: (agents of a coalition) x unknowns
    parallel_for(parts, threads(), [&](long part) {
        const auto i = static_cast<std::size_t>(part);
        part_hessian[i] = MatrixXd::Zero(unknowns_, unknowns_);
        const auto count = static_cast<Index>(coalitions_.size());
        const Index own = (count - part + parts - 1) / parts;
        slopes[i] = MatrixXd::Zero(own * agents_, unknowns_);
        for (Index c = part, row = 0; c < count; c += parts, row += agents_)
            add_coalition(point, c, part_hessian[i], slopes[i], row);
    });
    for (std::size_t i = 0; i < slopes.size(); ++i) {
        hessian += part_hessian[i];
        part_hessian[i].resize(0, 0);
        MatrixXd weighted = slopes[i];
        for (Index c = static_cast<Index>(i), row = 0; row < weighted.rows();
             c += parts, row += agents_) {
            const auto slack = point.slack.col(c).array();
            const VectorXd push = (slack.inverse() * target).matrix();
            gradient -= weighted.middleRows(row, agents_).transpose() * push;
            for (int u = 0; u < agents_; ++u) {
                // Curvature of the constraint included; negative only far inside, where the
                // Hessian without it is still positive.
                const double f = point.precision[static_cast<std::size_t>(c)](u, u);
                const double weight = point.price(u, c) * (1 / point.slack(u, c) - 2 * f);
                weighted.row(row + u) *= std::sqrt(std::max(0.0, weight));
            }
        }
        add_gram(weighted, hessian);
    }
    for (Index p = 0; p < nonnegative_; ++p) {
        gradient(p) -= target / point.phi(p);
        hessian(p, p) += point.zero_price(p) / point.phi(p);
    }
    MatrixXd cap_slopes = MatrixXd::Zero(agents_, unknowns_);  // of R_uu
    for (const Term& term : terms_) {
        cap_slopes(term.u, term.unknown) += 1;
        if (term.v >= 0) cap_slopes(term.v, term.unknown) += 1;
    }
    gradient += cap_slopes.transpose() * (target * point.room.cwiseInverse());
    const VectorXd cap_weight = point.cap_price.cwiseQuotient(point.room).cwiseSqrt();
    add_gram(cap_weight.asDiagonal() * cap_slopes, hessian);
    if (shape_ == GroupNoise::free) add_block_barrier(point.phi, target, gradient, hessian);

    // Unknowns differ by many orders of magnitude near the end.
    const VectorXd scale = hessian.diagonal().cwiseSqrt().cwiseInverse();
    hessian = scale.asDiagonal() * hessian * scale.asDiagonal();
    hessian.diagonal().array() += 1e-13;
    MatrixXd right = -scale.cwiseProduct(gradient);
    if (!solve_positive_definite(hessian, right)) return 0;
    const VectorXd direction = scale.cwiseProduct(right.col(0));

    Point change;
    change.price = change.slack = MatrixXd::Zero(agents_, point.price.cols());
    for (std::size_t i = 0; i < slopes.size(); ++i) {
        const VectorXd moved = slopes[i] * direction;
        for (Index c = static_cast<Index>(i), row = 0; row < moved.size();
             c += parts, row += agents_)
            for (int u = 0; u < agents_; ++u)
                if (point.price(u, c) > 0) {
                    change.slack(u, c) = moved(row + u);
                    change.price(u, c) =
                        (target - point.price(u, c) * moved(row + u)) / point.slack(u, c) -
                        point.price(u, c);
                }
    }
    change.cap_price = (target + (point.cap_price.array() * (cap_slopes * direction).array())) /
                           point.room.array() -
                       point.cap_price.array();
    change.zero_price = (target - point.zero_price.array() * direction.head(nonnegative_).array()) /
                            point.phi.head(nonnegative_).array() -
                        point.zero_price.array();

    double length = 1;
    const auto limit = [&](const auto& value, const auto& move) {
        for (Index j = 0; j < value.cols(); ++j)
            for (Index i = 0; i < value.rows(); ++i)
                if (move(i, j) < 0) length = std::min(length, -inside * value(i, j) / move(i, j));
    };
    // Slacks are concave: they fall at least as fast as their slopes say.
    limit(point.slack, change.slack);
    limit(point.price, change.price);
    limit(point.cap_price, change.cap_price);
    limit(point.zero_price, change.zero_price);
    limit(point.phi.head(nonnegative_), direction.head(nonnegative_));
    for (; length > 1e-8; length *= 0.7) {
        Point next;
        next.phi = point.phi + length * direction;
        if (!complete(next) || !blocks_positive(next.phi - (1 - inside) * point.phi)) continue;
        if (!((next.slack.array() >= (1 - inside) * point.slack.array()).all())) continue;
        next.price = point.price + length * change.price;
        next.cap_price = point.cap_price + length * change.cap_price;
        next.zero_price = point.zero_price + length * change.zero_price;
        point = std::move(next);
        return length;
    }
    return 0;
}

double CoalitionProblem::lower_bound(const Point& point) const {
    double reward = 0, limit = 0;                 // P and sum kappa lambda
    std::vector<MatrixXd> slope(groups_.size());  // -dP on the block of each group
    for (std::size_t k = 0; k < groups_.size(); ++k) {
        const auto size = static_cast<Index>(groups_[k].members.size());
        slope[k] = MatrixXd::Zero(size, size);
    }
    VectorXd private_slope = VectorXd::Zero(agents_);
    for (std::size_t c = 0; c < coalitions_.size(); ++c) {
        const MatrixXd& inverse = point.precision[c];
        // A price of 1/f >= 1/kappa is one of f <= kappa times f^2.
        VectorXd price = point.price.col(static_cast<Index>(c));
        for (int u = 0; u < agents_; ++u)
            if (price(u) > 0) price(u) /= inverse(u, u) * inverse(u, u);
        reward += price.dot(inverse.diagonal());
        limit += price.dot(kappa_);
        const MatrixXd square = inverse * price.asDiagonal() * inverse;
        private_slope += square.diagonal();
        for (std::size_t k = 0; k < groups_.size(); ++k)
            if (!meets(groups_[k], coalitions_[c]))
                slope[k] += square(groups_[k].members, groups_[k].members);
    }
    // Any prices of the cap will do. Where M is singular on a block, rounding in the slope must
    // not be divided by almost nothing: try what a little more costs.
    double best = 0;
    for (double more = 0; more < 1e-4; more = more == 0 ? 1e-13 : 10 * more) {
        const VectorXd cap_price = point.cap_price.array() + more;
        const MatrixXd priced = utility_ + MatrixXd(cap_price.asDiagonal());
        const double largest = largest_slope(priced, private_slope, slope);
        best = std::max(best, reward * reward / (largest * limit) - cap_price.dot(cap_));
    }
    return best;
}

double CoalitionProblem::excess(const Point& point) const {
    double excess = 0;
    for (const MatrixXd& inverse : point.precision)
        excess = std::max(excess, inverse.diagonal().cwiseQuotient(kappa_).maxCoeff());
    return excess;
}

bool CoalitionProblem::meets(const SeedGroup& group, const Coalition& coalition) {
    return std::any_of(coalition.begin(), coalition.end(), [&](int member) {
        return std::binary_search(group.members.begin(), group.members.end(), member);
    });
}

std::vector<char> CoalitionProblem::unknown_groups(const Coalition& coalition) const {
    std::vector<char> unknown(groups_.size());
    for (std::size_t k = 0; k < groups_.size(); ++k) unknown[k] = !meets(groups_[k], coalition);
    return unknown;
}

bool CoalitionProblem::is_unknown(const Term& term,
                                  const Coalition& coalition,
                                  const std::vector<char>& unknown) {
    return term.group >= 0 ? unknown[static_cast<std::size_t>(term.group)] != 0
                           : !std::binary_search(coalition.begin(), coalition.end(), term.u);
}

bool CoalitionProblem::unknown_precision(const VectorXd& phi,
                                         const Coalition& coalition,
                                         MatrixXd& inverse) const {
    const std::vector<char> unknown = unknown_groups(coalition);
    MatrixXd covariance = MatrixXd::Zero(agents_, agents_);
    for (const Term& term : terms_) {
        if (!is_unknown(term, coalition, unknown)) continue;
        const double value = phi(term.unknown);
        covariance(term.u, term.u) += value;
        if (term.v < 0) continue;
        covariance(term.v, term.v) += value;
        covariance(term.u, term.v) -= value;
        covariance(term.v, term.u) -= value;
    }
    for (const int member : coalition) covariance(member, member) = 1;
    const Eigen::LLT<MatrixXd> factor(covariance);
    if (factor.info() != Eigen::Success) return false;
    inverse = factor.solve(MatrixXd::Identity(agents_, agents_));
    for (const int member : coalition) inverse(member, member) = 0;
    return true;
}

void CoalitionProblem::add_coalition(
    const Point& point, Index index, MatrixXd& hessian, MatrixXd& slopes, Index first_row) const {
    const auto& coalition = coalitions_[static_cast<std::size_t>(index)];
    const MatrixXd& inverse = point.precision[static_cast<std::size_t>(index)];
    VectorXd inverse_square = VectorXd::Zero(agents_);
    for (int u = 0; u < agents_; ++u)
        if (inverse(u, u) > 0) inverse_square(u) = 1 / (inverse(u, u) * inverse(u, u));
    const VectorXd weight = point.price.col(index).cwiseProduct(inverse_square);
    const MatrixXd square = inverse * weight.asDiagonal() * inverse;
    const std::vector<char> unknown = unknown_groups(coalition);
    std::vector<Term> terms;
    for (const Term& term : terms_)
        if (is_unknown(term, coalition, unknown)) terms.push_back(term);
    VectorXd y(agents_), q(agents_);
    for (std::size_t j = 0; j < terms.size(); ++j) {
        const Term& right = terms[j];
        y = inverse.col(right.u);
        q = square.col(right.u);
        if (right.v >= 0) {
            y -= inverse.col(right.v);
            q -= square.col(right.v);
        }
        slopes.col(right.unknown).segment(first_row, agents_).array() +=
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
            hessian(right.unknown, left.unknown) += twice ? 2 * entry : entry;
        }
    }
}

double CoalitionProblem::largest_slope(const MatrixXd& priced,
                                       const VectorXd& private_slope,
                                       const std::vector<MatrixXd>& slope) const {
    double largest = common_ ? private_slope.sum() / priced.trace()
                             : private_slope.cwiseQuotient(priced.diagonal()).maxCoeff();
    for (std::size_t k = 0; k < groups_.size(); ++k) {
        const MatrixXd block = priced(groups_[k].members, groups_[k].members);
        if (shape_ == GroupNoise::difference) {
            const auto difference = [](const MatrixXd& a) {
                return a(0, 0) + a(1, 1) - 2 * a(0, 1);
            };
            largest = std::max(largest, difference(slope[k]) / difference(block));
            continue;
        }
        // Of L^-1 slope L^-T, block = L L^T.
        const Eigen::LLT<MatrixXd> factor(block);
        if (factor.info() != Eigen::Success) return infinity;
        const MatrixXd half = factor.matrixL().solve(slope[k]);
        const MatrixXd ratio = factor.matrixL().solve(half.transpose());
        largest = std::max(largest, symmetric_eigenvalues(ratio).maxCoeff());
    }
    return largest;
}

bool CoalitionProblem::blocks_positive(const VectorXd& phi) const {
    if (shape_ == GroupNoise::free)
        for (std::size_t k = 0; k < groups_.size(); ++k)
            if (Eigen::LLT<MatrixXd>(group_matrix(phi, k)).info() != Eigen::Success) return false;
    return true;
}

void CoalitionProblem::add_block_barrier(const VectorXd& phi,
                                         double target,
                                         VectorXd& gradient,
                                         MatrixXd& hessian) const {
    for (std::size_t k = 0; k < groups_.size(); ++k) {
        const MatrixXd inverse = group_inverse(phi, k);
        for (std::size_t p = first_term_[k]; p < first_term_[k + 1]; ++p) {
            gradient(terms_[p].unknown) -= target * along(inverse, terms_[p], terms_[p]);
            for (std::size_t q = first_term_[k]; q <= p; ++q) {
                const double entry = along(inverse, terms_[p], terms_[q]);
                hessian(terms_[p].unknown, terms_[q].unknown) += target * entry * entry;
            }
        }
    }
}

MatrixXd CoalitionProblem::group_inverse(const VectorXd& phi, std::size_t group) const {
    const MatrixXd matrix = group_matrix(phi, group);
    const MatrixXd small =
        Eigen::LLT<MatrixXd>(matrix).solve(MatrixXd::Identity(matrix.rows(), matrix.cols()));
    MatrixXd inverse = MatrixXd::Zero(agents_, agents_);
    inverse(groups_[group].members, groups_[group].members) = small;
    return inverse;
}

}  // namespace sotto
