#include "design/coalition_solver.hpp"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <utility>

#include "core/linear_algebra.hpp"
#include "core/numbers.hpp"
#include "design/coalition_newton.hpp"
#include "design/coalition_point.hpp"
#include "design/coalition_weights.hpp"
#include "design/solver_input.hpp"
#include "privacy/protection.hpp"
#include "sotto/core/error.hpp"

namespace sotto {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

void check_groups(std::span<const SeedGroup> groups, GroupNoise shape, int agents) {
    for (const auto& group : groups) {
        const auto& members = group.members;
        const bool pair = members.size() == 2;
        if (members.size() < 2 || (shape == GroupNoise::difference && !pair))
            throw ConfigError(
                fmt::format("seed group of {} agents: {} are needed",
                            members.size(),
                            shape == GroupNoise::difference ? "exactly two" : "at least two"));
        if (!std::is_sorted(members.begin(), members.end(), std::less_equal<>()) ||
            members.front() < 0 || members.back() >= agents)
            throw ConfigError(fmt::format(
                "seed group: its members must be different agents from 0 to {}, ascending",
                agents - 1));
    }
}

/// Numbers stored in a step: slopes of every coalition's agents by every unknown.
void check_size(const CoalitionProblem& problem, const CoalitionOptions& options) {
    constexpr double most_slopes = 3e8;  // 2.4 GB
    const double count = count_coalitions(problem.agents(), options.coalition_size);
    const double slopes = (count <= few_coalitions ? count : problem.agents()) * problem.agents() *
                          static_cast<double>(problem.unknowns());
    if (slopes > most_slopes)
        throw ConfigError(
            fmt::format("coalition-size: {} of {} agents with {} unknowns are too much to optimise "
                        "({:.0f} GB); choose fewer seed groups (--seed-groups circulant:2){}",
                        options.coalition_size,
                        problem.agents(),
                        problem.unknowns(),
                        8e-9 * slopes,
                        options.instead));
}

/// All, or of many those of neighbours by number.
void add_first_coalitions(CoalitionProblem& problem, int size) {
    const int agents = problem.agents();
    if (count_coalitions(agents, size) <= few_coalitions) {
        for_each_coalition(
            agents, size, [&](const Coalition& coalition) { problem.add(coalition); });
        return;
    }
    for (int u = 0; u < agents; ++u) {
        std::set<int> members;
        for (int i = 0; i < size; ++i) members.insert((u + i) % agents);
        problem.add({members.begin(), members.end()});
    }
}

/// With this many operations a step, Newton's method reaches a gap of 1e-5 in about half a second;
/// above, prices and weights reach a per cent faster.
constexpr double most_newton_operations = 1e8;
/// Only Newton's method is used for gaps below this.
constexpr double least_gap_of_weights = 1e-3;
constexpr double newton_gap = 1e-5;
/// Share of the gap for dropping noise.
constexpr double share_of_dropping = 0.1;

bool newton_is_best(int agents, Index unknowns, const CoalitionOptions& options) {
    const double size = static_cast<double>(unknowns);
    const double count = count_coalitions(agents, options.coalition_size);
    const double constraints = (count <= few_coalitions ? count : agents) * agents;
    return options.relative_gap < least_gap_of_weights ||
           constraints * size * size + size * size * size / 3 <= most_newton_operations;
}

/// Number of coefficients in Newton's problem.
Index unknowns_of(const GroupLayout& layout) {
    Index unknowns = layout.variances();
    for (std::size_t k = 0; k < layout.groups().size(); ++k)
        unknowns += layout.rank(k) * (layout.rank(k) + 1) / 2;
    return unknowns;
}

LayoutSolution solve_by_newton(const GroupLayout& layout,
                               const MatrixXd& utility,
                               const VectorXd& kappa,
                               CoalitionOptions options) {
    options.relative_gap = std::min(options.relative_gap, newton_gap);
    CoalitionProblem first(utility, kappa, layout.groups(), layout.shape(), options);
    check_size(first, options);
    add_first_coalitions(first, options.coalition_size);
    CoalitionPath path(std::move(first), options);
    path.follow();
    const VectorXd& best = path.best();
    LayoutSolution solution{.values = VectorXd(layout.size()),
                            .value = path.problem().cost().dot(best),
                            .lower_bound = path.lower_bound(),
                            .iterations = path.iterations(),
                            .coalitions = std::ssize(path.problem().coalitions())};
    solution.values.head(layout.variances()) = best.head(layout.variances());
    for (std::size_t k = 0; k < layout.groups().size(); ++k) {
        const Index rank = layout.rank(k);
        const MatrixXd block = path.problem().group_matrix(best, k);
        Eigen::Map<MatrixXd>(solution.values.data() + layout.first(k), rank, rank) =
            block.topLeftCorner(rank, rank);
    }
    return solution;
}

/// Drops pair noise that hardly helps, since it costs two agents a stream each, as long as the cost
/// is small beside the gap.
void drop_negligible(const GroupLayout& layout,
                     const VectorXd& cost,
                     const VectorXd& kappa,
                     int coalition_size,
                     LayoutSolution& solution) {
    const Index first = layout.variances();
    const double before = solution.value;
    const double dearer =
        std::max(newton_gap, share_of_dropping * (before - solution.lower_bound) / before);
    const VectorXd all = solution.values;
    for (double share = 1e-9; share < 1; share *= 10) {
        VectorXd trial = all;
        const double limit =
            share * before / static_cast<double>(std::max<Index>(1, layout.size() - first));
        for (Index p = first; p < layout.size(); ++p)
            if (cost(p) * all(p) < limit) trial(p) = 0;
        if (trial == solution.values) continue;
        const double excess = largest_excess(layout, trial, kappa, coalition_size);
        if (!std::isfinite(excess)) break;
        if (excess > 1) trial *= excess;
        const double value = cost.dot(trial);
        if (value > before * (1 + dearer)) break;
        solution.values = std::move(trial);
        solution.value = value;
    }
}

LayoutSolution solve_layout(const GroupLayout& layout,
                            const MatrixXd& utility,
                            const VectorXd& kappa,
                            const CoalitionOptions& options) {
    CoalitionOptions within = options;
    within.relative_gap *= 1 - share_of_dropping;
    LayoutSolution found = newton_is_best(layout.agents(), unknowns_of(layout), options)
                               ? solve_by_newton(layout, utility, kappa, options)
                               : solve_by_weights(layout, utility, kappa, within);
    if (layout.shape() == GroupNoise::difference)
        drop_negligible(layout, layout.along(utility), kappa, options.coalition_size, found);
    return found;
}

/// Groups that are left when those with the least noise go first, and only while each of their
/// members has more than `fewest`. Noise within a per cent counts as equal, so that rounding
/// decides little; of equals those go first whose members are far apart by number, so that a graph
/// in which all agents are alike keeps groups in which they nearly are.
std::vector<std::size_t> strongest_groups(const GroupLayout& layout,
                                          const VectorXd& values,
                                          int fewest) {
    std::vector<std::pair<double, int>> order(layout.groups().size());
    std::vector<int> groups_of(static_cast<std::size_t>(layout.agents()));
    std::vector<std::size_t> weakest_first, left;
    for (std::size_t k = 0; k < layout.groups().size(); ++k) {
        const double strength = layout.block(values, k).trace();
        if (!(strength > 0)) continue;
        const auto& members = layout.groups()[k].members;
        const int apart = members.back() - members.front();
        constexpr double steps_per_doubling = 64;
        order[k] = {std::round(steps_per_doubling * std::log2(strength)),
                    -std::min(apart, layout.agents() - apart)};
        weakest_first.push_back(k);
        for (const int u : members) ++groups_of[static_cast<std::size_t>(u)];
    }
    std::ranges::stable_sort(weakest_first, {}, [&](std::size_t k) { return order[k]; });
    for (const std::size_t k : weakest_first) {
        const auto& members = layout.groups()[k].members;
        if (std::ranges::all_of(
                members, [&](int u) { return groups_of[static_cast<std::size_t>(u)] > fewest; }))
            for (const int u : members) --groups_of[static_cast<std::size_t>(u)];
        else
            left.push_back(k);
    }
    std::ranges::sort(left);
    return left;
}

/// The solution of some groups, as one of all.
LayoutSolution solve_some_groups(const GroupLayout& layout,
                                 const std::vector<std::size_t>& some,
                                 const MatrixXd& utility,
                                 const VectorXd& kappa,
                                 const CoalitionOptions& options) {
    std::vector<SeedGroup> groups;
    for (const std::size_t k : some) groups.push_back(layout.groups()[k]);
    const GroupLayout part(layout.agents(), groups, layout.shape(), options.common_variance);
    LayoutSolution solution = solve_layout(part, utility, kappa, options);
    VectorXd values = VectorXd::Zero(layout.size());
    values.head(layout.variances()) = solution.values.head(part.variances());
    for (std::size_t i = 0; i < some.size(); ++i) {
        const Index size = part.rank(i) * part.rank(i);
        values.segment(layout.first(some[i]), size) = solution.values.segment(part.first(i), size);
    }
    solution.values = std::move(values);
    return solution;
}

/// Leaves out groups while the value stays within `extra_noise` of that of `all`.
LayoutSolution with_fewer_streams(const GroupLayout& layout,
                                  const MatrixXd& utility,
                                  const VectorXd& kappa,
                                  const CoalitionOptions& options,
                                  LayoutSolution all) {
    const double most = all.value * (1 + options.extra_noise);
    // Steps grow, since many groups take longer to solve for and a few less hardly matter.
    for (int fewest = 1; fewest < layout.agents() - 1; fewest += std::max(1, fewest / 4)) {
        LayoutSolution fewer = solve_some_groups(
            layout, strongest_groups(layout, all.values, fewest), utility, kappa, options);
        if (fewer.value > most) continue;
        all.values = std::move(fewer.values);
        all.value = fewer.value;
        break;
    }
    return all;
}

}  // namespace

CoalitionSolution solve_coalition_covariance(const MatrixXd& utility,
                                             const VectorXd& kappa,
                                             std::span<const SeedGroup> groups,
                                             GroupNoise shape,
                                             const CoalitionOptions& options) {
    const auto agents = static_cast<int>(kappa.size());
    require_kappa(kappa);
    require_utility_of(utility, agents);
    check_coalition_size(agents, options.coalition_size);
    check_coalition_count(agents, options.coalition_size);
    require_variance_cap(options.variance_cap);
    check_groups(groups, shape, agents);
    const double unit = utility.trace() / agents;
    const MatrixXd relative = utility / unit;
    const GroupLayout layout(agents, groups, shape, options.common_variance);
    LayoutSolution found = solve_layout(layout, relative, kappa, options);
    if (options.extra_noise > 0)
        found = with_fewer_streams(layout, relative, kappa, options, std::move(found));
    // Rounding, here and in what computes with the noise, must not exceed what is allowed.
    constexpr double for_rounding = 1e-11;
    found.values *= 1 + for_rounding;
    found.value *= 1 + for_rounding;
    CoalitionSolution solution;
    solution.private_variance.resize(agents);
    for (int u = 0; u < agents; ++u)
        solution.private_variance(u) = found.values(layout.variance_of(u));
    for (std::size_t k = 0; k < groups.size(); ++k)
        solution.group_covariance.push_back(layout.block(found.values, k));
    solution.value = unit * found.value;
    solution.lower_bound = unit * found.lower_bound;
    solution.iterations = found.iterations;
    solution.coalitions = found.coalitions;
    solution.capped =
        layout.diagonal(found.values).cwiseProduct(kappa).maxCoeff() > 0.5 * options.variance_cap;
    return solution;
}

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using Term = CoalitionTerm;

double along(const MatrixXd& a, const Term& b, const Term& c) {
    double value = a(b.u, c.u);
    if (c.v >= 0) value -= a(b.u, c.v);
    if (b.v >= 0) value -= a(b.v, c.u);
    if (b.v >= 0 && c.v >= 0) value += a(b.v, c.v);
    return value;
}

bool meets(const SeedGroup& group, const Coalition& coalition) {
    return std::any_of(coalition.begin(), coalition.end(), [&](int member) {
        return std::binary_search(group.members.begin(), group.members.end(), member);
    });
}

CoalitionProblem::CoalitionProblem(MatrixXd utility,
                                   VectorXd kappa,
                                   std::span<const SeedGroup> groups,
                                   GroupNoise shape,
                                   const CoalitionOptions& options)
    : utility_(std::move(utility)),
      kappa_(std::move(kappa)),
      groups_(groups.begin(), groups.end()),
      shape_(shape),
      common_variance_(options.common_variance),
      agents_(static_cast<int>(kappa_.size())),
      cap_(options.variance_cap * kappa_.cwiseInverse()),
      louder_at_start_(std::min(1.3, std::sqrt(options.variance_cap))) {
    for (int u = 0; u < agents_; ++u) terms_.push_back({u, -1, -1, common_variance_ ? 0 : u});
    unknowns_ = common_variance_ ? 1 : agents_;
    nonnegative_ = unknowns_;
    add_terms_of_groups();
    if (shape == GroupNoise::difference) nonnegative_ = unknowns_;
    constexpr int most_unknowns = 6000;
    if (unknowns_ > most_unknowns)
        throw ConfigError(
            fmt::format("seed-groups: {} unknowns are too many to optimise (at most {}); use "
                        "fewer or smaller groups (--seed-groups edges, or a FILE){}",
                        unknowns_,
                        most_unknowns,
                        options.instead));
    cost_ = VectorXd::Zero(unknowns_);
    for (const Term& term : terms_) cost_(term.unknown) += along(utility_, term, term);
}

void CoalitionProblem::add_terms_of_groups() {
    for (std::size_t k = 0; k < groups_.size(); ++k) {
        const auto& members = groups_[k].members;
        const auto group = static_cast<int>(k);
        first_term_.push_back(terms_.size());
        if (shape_ == GroupNoise::free)
            for (const int u : members) terms_.push_back({u, -1, group, unknowns_++});
        for (std::size_t i = 0; i < members.size(); ++i)
            for (std::size_t j = i + 1; j < members.size(); ++j)
                terms_.push_back({members[i], members[j], group, unknowns_++});
    }
    first_term_.push_back(terms_.size());
}

std::span<const Term> CoalitionProblem::terms_of(std::size_t group) const {
    return std::span(terms_).subspan(first_term_[group],
                                     first_term_[group + 1] - first_term_[group]);
}

int CoalitionProblem::threads() const { return unknowns_ < 200 ? 1 : linear_algebra_threads(); }

VectorXd CoalitionProblem::start() const {
    VectorXd own = VectorXd::Zero(unknowns_), shared = own;
    const double smallest = kappa_.minCoeff();
    for (const Term& term : terms_) {
        if (term.group < 0)
            own(term.unknown) = std::max(own(term.unknown), louder_at_start_ / kappa_(term.u));
        else if (term.v < 0 || shape_ == GroupNoise::difference)
            shared(term.unknown) = 0.1 / (smallest * agents_);
    }
    // At most half of the room below the cap: near it, or without shared noise, steps are short.
    const VectorXd room = cap_ - variances(own), taken = variances(shared);
    double share = 1;
    for (int u = 0; u < agents_; ++u)
        if (taken(u) > 0) share = std::min(share, 0.5 * room(u) / taken(u));
    return own + std::max(share, 0.0) * shared;
}

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
    for (const Term& term : terms_of(group)) {
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

bool CoalitionProblem::blocks_positive(const VectorXd& phi) const {
    if (shape_ == GroupNoise::free)
        for (std::size_t k = 0; k < groups_.size(); ++k)
            if (Eigen::LLT<MatrixXd>(group_matrix(phi, k)).info() != Eigen::Success) return false;
    return true;
}

std::vector<Term> CoalitionProblem::unknown_terms(const Coalition& coalition) const {
    std::vector<char> unknown(groups_.size());
    for (std::size_t k = 0; k < groups_.size(); ++k) unknown[k] = !meets(groups_[k], coalition);
    std::vector<Term> terms;
    terms.reserve(terms_.size());
    for (const Term& term : terms_)
        if (term.group >= 0 ? unknown[static_cast<std::size_t>(term.group)] != 0
                            : !std::binary_search(coalition.begin(), coalition.end(), term.u))
            terms.push_back(term);
    return terms;
}

std::optional<MatrixXd> CoalitionProblem::unknown_precision(const VectorXd& phi,
                                                            const Coalition& coalition) const {
    MatrixXd covariance = MatrixXd::Zero(agents_, agents_);
    for (const Term& term : unknown_terms(coalition)) {
        const double value = phi(term.unknown);
        covariance(term.u, term.u) += value;
        if (term.v < 0) continue;
        covariance(term.v, term.v) += value;
        covariance(term.u, term.v) -= value;
        covariance(term.v, term.u) -= value;
    }
    for (const int member : coalition) covariance(member, member) = 1;
    const Eigen::LLT<MatrixXd> factor(covariance);
    if (factor.info() != Eigen::Success) return std::nullopt;
    MatrixXd inverse = factor.solve(MatrixXd::Identity(agents_, agents_));
    for (const int member : coalition) inverse(member, member) = 0;
    return inverse;
}

double CoalitionProblem::excess(const VectorXd& phi, const Coalition& coalition) const {
    const std::optional<MatrixXd> inverse = unknown_precision(phi, coalition);
    if (!inverse) return infinity;
    return inverse->diagonal().cwiseQuotient(kappa_).maxCoeff();
}

using Eigen::Index;
using Eigen::Map;
using Eigen::MatrixXd;
using Eigen::VectorXd;

GroupLayout::GroupLayout(int agents,
                         std::span<const SeedGroup> groups,
                         GroupNoise shape,
                         bool common_variance)
    : agents_(agents),
      groups_(groups.begin(), groups.end()),
      shape_(shape),
      common_variance_(common_variance),
      groups_of_(static_cast<std::size_t>(agents)),
      size_(common_variance ? 1 : agents) {
    for (std::size_t k = 0; k < groups_.size(); ++k) {
        for (const int u : groups_[k].members)
            groups_of_[static_cast<std::size_t>(u)].push_back(static_cast<int>(k));
        first_.push_back(size_);
        size_ += rank(k) * rank(k);
    }
}

double GroupLayout::partners_of(int agent) const {
    double partners = 0;
    for (const int k : groups_of(agent))
        partners += static_cast<double>(groups_[static_cast<std::size_t>(k)].members.size()) - 1;
    return partners;
}

Index GroupLayout::rank(std::size_t group) const {
    return shape_ == GroupNoise::difference ? 1 : std::ssize(groups_[group].members);
}

MatrixXd GroupLayout::covariance(const VectorXd& values) const {
    MatrixXd covariance = MatrixXd::Zero(agents_, agents_);
    for (int u = 0; u < agents_; ++u) covariance(u, u) = values(variance_of(u));
    for (std::size_t k = 0; k < groups_.size(); ++k) {
        const auto& members = groups_[k].members;
        if (shape_ == GroupNoise::free) {
            covariance(members, members) += block(values, k);
            continue;
        }
        const int u = members[0], v = members[1];
        const double weight = values(first_[k]);
        covariance(u, u) += weight;
        covariance(v, v) += weight;
        covariance(u, v) -= weight;
        covariance(v, u) -= weight;
    }
    return covariance;
}

VectorXd GroupLayout::diagonal(const VectorXd& values) const {
    VectorXd diagonal(agents_);
    for (int u = 0; u < agents_; ++u) diagonal(u) = values(variance_of(u));
    for (std::size_t k = 0; k < groups_.size(); ++k)
        for (std::size_t i = 0; i < groups_[k].members.size(); ++i)
            diagonal(groups_[k].members[i]) +=
                values(first_[k] + static_cast<Index>(i) *
                                       (shape_ == GroupNoise::difference ? 0 : rank(k) + 1));
    return diagonal;
}

MatrixXd GroupLayout::block(const VectorXd& values, std::size_t group) const {
    const double* first = values.data() + first_[group];
    if (shape_ == GroupNoise::free) return Map<const MatrixXd>(first, rank(group), rank(group));
    MatrixXd block(2, 2);
    block << *first, -*first, -*first, *first;
    return block;
}

VectorXd GroupLayout::along(const MatrixXd& a) const {
    VectorXd along = VectorXd::Zero(size_);
    for (int u = 0; u < agents_; ++u) along(variance_of(u)) += a(u, u);
    for (std::size_t k = 0; k < groups_.size(); ++k) {
        const auto& members = groups_[k].members;
        if (shape_ == GroupNoise::free) {
            Map<MatrixXd>(along.data() + first_[k], rank(k), rank(k)) = a(members, members);
            continue;
        }
        const int u = members[0], v = members[1];
        along(first_[k]) = a(u, u) + a(v, v) - a(u, v) - a(v, u);
    }
    return along;
}

VectorXd GroupLayout::along_diagonal(const VectorXd& a) const {
    VectorXd along = VectorXd::Zero(size_);
    for (int u = 0; u < agents_; ++u) along(variance_of(u)) += a(u);
    for (std::size_t k = 0; k < groups_.size(); ++k) {
        const auto& members = groups_[k].members;
        if (shape_ == GroupNoise::free)
            Map<MatrixXd>(along.data() + first_[k], rank(k), rank(k)).diagonal() = a(members);
        else
            along(first_[k]) = a(members[0]) + a(members[1]);
    }
    return along;
}

}  // namespace sotto
