#include "sotto/noise/coalition_solver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "noise/coalition_path.hpp"
#include "noise/solver_input.hpp"
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

/// Pair noise that hardly helps costs its two agents a stream each: drop as much of it as leaves
/// the cost where it is.
VectorXd without_negligible(const CoalitionProblem& problem,
                            const VectorXd& phi,
                            const CoalitionOptions& options) {
    const Index first = options.common_variance ? 1 : problem.agents();
    const Index last = problem.unknowns();
    const double before = problem.cost().dot(phi);
    VectorXd best = phi;
    for (double share = 1e-9; share < 1; share *= 10) {
        VectorXd trial = phi;
        const double limit = share * before / static_cast<double>(std::max<Index>(1, last - first));
        for (Index p = first; p < last; ++p)
            if (problem.cost()(p) * phi(p) < limit) trial(p) = 0;
        const double excess = worst_excess(problem, trial, options.coalition_size);
        if (!std::isfinite(excess)) break;
        if (excess > 1) trial *= excess;
        if (problem.cost().dot(trial) > before * (1 + options.relative_gap)) break;
        best = std::move(trial);
    }
    return best;
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
    CoalitionProblem first(utility / unit, kappa, groups, shape, options);
    check_size(first, options);
    add_first_coalitions(first, options.coalition_size);

    CoalitionPath path(std::move(first), options);
    path.follow();
    const CoalitionProblem& problem = path.problem();
    const VectorXd best = shape == GroupNoise::difference
                              ? without_negligible(problem, path.best(), options)
                              : path.best();
    CoalitionSolution solution;
    solution.private_variance =
        options.common_variance ? VectorXd::Constant(agents, best(0)) : VectorXd(best.head(agents));
    for (std::size_t k = 0; k < groups.size(); ++k)
        solution.group_covariance.push_back(problem.group_matrix(best, k));
    solution.value = unit * problem.cost().dot(best);
    solution.lower_bound = unit * path.lower_bound();
    solution.iterations = path.iterations();
    solution.coalitions = static_cast<long>(problem.coalitions().size());
    solution.capped =
        problem.variances(best).cwiseProduct(kappa).maxCoeff() > 0.5 * options.variance_cap;
    return solution;
}

}  // namespace sotto
