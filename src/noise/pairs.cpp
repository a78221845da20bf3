#include <algorithm>
#include <utility>

#include "group_plan.hpp"
#include "sotto/core/error.hpp"
#include "sotto/noise/coalition_solver.hpp"

namespace sotto {

namespace {

CoalitionSolution solve(const DesignInput& input, const RelativeLimits& limits, GroupNoise shape) {
    CoalitionOptions options;
    options.coalition_size = input.coalition_size;
    options.common_variance = input.common_variance;
    options.variance_cap = input.variance_cap;
    return solve_coalition_covariance(
        design_utility(input), limits.kappa, input.seed_groups, shape, options);
}

Design finish(const DesignInput& input,
              const RelativeLimits& limits,
              const CoalitionSolution& solution,
              NoisePlan plan) {
    Design design;
    design.plan = std::move(plan);
    design.plan.scale = 1 / std::sqrt(limits.unit);
    design.plan.coalition_size = input.coalition_size;
    finish_plan(design.plan, input.kappa);
    design.objective = solution.value;
    design.lower_bound = solution.lower_bound;
    design.capped = solution.capped;
    return design;
}

}  // namespace

/// R = diag(s2_u) + sum over pairs of c_e (e_u - e_v)(e_u - e_v)^T: every pair its own weight,
/// every agent its own private variance. Pair noise cancels in the mean of the network.
Design design_pairs(const DesignInput& input) {
    for (const auto& group : input.seed_groups)
        if (group.members.size() != 2)
            throw ConfigError(
                "seed-groups: mechanism pairs needs groups of two agents (allowed: edges, "
                "all-pairs, "
                "circulant:K, or a FILE of pairs); corn-hbc takes larger groups");
    const RelativeLimits limits = relative_limits(input.kappa);
    const CoalitionSolution solution = solve(input, limits, GroupNoise::difference);
    std::vector<Eigen::MatrixXd> factors;
    for (const auto& block : solution.group_covariance)
        factors.push_back(difference_factor(block(0, 0)));
    return finish(input,
                  limits,
                  solution,
                  make_group_plan("pairs", solution.private_variance, input.seed_groups, factors));
}

/// R = diag(s2_u) + sum over seed groups of R_k, any covariance of its members. [C] section V-D.
Design design_corn_hbc(const DesignInput& input) {
    const RelativeLimits limits = relative_limits(input.kappa);
    CoalitionSolution solution = solve(input, limits, GroupNoise::free);
    // Differences of pairs are among the free blocks: where rounding kept those from their optimum,
    // they may be better.
    const bool pairs = std::ranges::all_of(
        input.seed_groups, [](const SeedGroup& group) { return group.members.size() == 2; });
    if (pairs && solution.relative_gap() > 1e-4) {
        CoalitionSolution differences = solve(input, limits, GroupNoise::difference);
        if (differences.value < solution.value) {
            differences.lower_bound = solution.lower_bound;
            solution = std::move(differences);
        }
    }
    // What is left out is added again by raising the scale.
    const double negligible = 1e-7 * solution.private_variance.minCoeff();
    std::vector<Eigen::MatrixXd> factors;
    for (const auto& block : solution.group_covariance)
        factors.push_back(block_factor(block, negligible));
    return finish(
        input,
        limits,
        solution,
        make_group_plan("corn-hbc", solution.private_variance, input.seed_groups, factors));
}

}  // namespace sotto
