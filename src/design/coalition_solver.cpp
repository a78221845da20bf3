#include "sotto/design/coalition_solver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "design/coalition_excess.hpp"
#include "design/coalition_path.hpp"
#include "design/coalition_weights.hpp"
#include "design/group_layout.hpp"
#include "design/solver_input.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/numbers.hpp"
#include "sotto/privacy/coalitions.hpp"

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

/// Numbers kept in a step: slopes of every coalition's agents by every unknown.
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

/// All, or where there are many, neighbours by number.
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

/// Newton's method to a gap of 1e-5 takes this many operations a step for about half a second in
/// all; where it would need more, prices and weights find the same to a per cent in less.
constexpr double most_newton_operations = 1e8;
/// Gaps below this are only asked of Newton's method, where it can be afforded at all.
constexpr double least_gap_of_weights = 1e-3;
constexpr double newton_gap = 1e-5;
/// Share of the gap that is left to noise that is dropped.
constexpr double share_of_dropping = 0.1;

bool newton_is_best(int agents, Index unknowns, const CoalitionOptions& options) {
    const double size = static_cast<double>(unknowns);
    const double count = count_coalitions(agents, options.coalition_size);
    const double constraints = (count <= few_coalitions ? count : agents) * agents;
    return options.relative_gap < least_gap_of_weights ||
           constraints * size * size + size * size * size / 3 <= most_newton_operations;
}

/// One number for every coefficient of Newton's problem.
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

/// Pair noise that hardly helps costs its two agents a stream each: drop as much of it as costs
/// little beside the gap.
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
    require_variance_cap(options.variance_cap);
    check_groups(groups, shape, agents);
    const double unit = utility.trace() / agents;
    const MatrixXd relative = utility / unit;
    const GroupLayout layout(agents, groups, shape, options.common_variance);
    CoalitionOptions within = options;
    within.relative_gap *= 1 - share_of_dropping;
    LayoutSolution found = newton_is_best(agents, unknowns_of(layout), options)
                               ? solve_by_newton(layout, relative, kappa, options)
                               : solve_by_weights(layout, relative, kappa, within);
    if (shape == GroupNoise::difference)
        drop_negligible(layout, layout.along(relative), kappa, options.coalition_size, found);
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

}  // namespace sotto
