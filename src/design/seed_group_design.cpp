#include "design/seed_group_design.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <utility>

#include "design/finish_plan.hpp"
#include "design/group_plan.hpp"
#include "sotto/core/hash.hpp"
#include "sotto/core/linear_algebra.hpp"
#include "sotto/core/recent.hpp"
#include "sotto/design/mechanism.hpp"
#include "sotto/design/seed_groups.hpp"

namespace sotto {

namespace {

Digest digest_of(const Eigen::MatrixXd& utility,
                 const Eigen::VectorXd& kappa,
                 std::span<const SeedGroup> groups,
                 GroupNoise shape,
                 const CoalitionOptions& options) {
    Hasher hasher("sotto.coalition-problem.v1");
    hasher.add(values_of(utility)).add(values_of(kappa));
    add_to(hasher, groups);
    hasher.add(static_cast<std::int64_t>(shape)).add(std::int64_t{options.coalition_size});
    hasher.add(std::int64_t{options.common_variance}).add(options.variance_cap);
    hasher.add(options.relative_gap).add(std::int64_t{options.max_iterations});
    return hasher.finish();
}

std::size_t bytes_of(const CoalitionSolution& solution) {
    Eigen::Index values = solution.private_variance.size();
    for (const Eigen::MatrixXd& block : solution.group_covariance) values += block.size();
    return sizeof(double) * static_cast<std::size_t>(values);
}

/// What protects against coalitions too and takes no time to solve.
std::string quick_mechanism() {
    return recommended_mechanisms([](const Mechanism& mechanism) {
               return mechanism.spatial_part && mechanism.coalitions && !mechanism.seed_groups();
           })
        .front();
}

CoalitionSolution solve_for_free_groups(const DesignInput& input) {
    CoalitionSolution solution = solve_for_seed_groups(input, GroupNoise::free);
    // Differences of pairs are among the free blocks: where rounding kept those from their optimum,
    // they may be better.
    const bool pairs = std::ranges::all_of(
        input.seed_groups, [](const SeedGroup& group) { return group.members.size() == 2; });
    if (pairs && solution.relative_gap() > 1e-4) {
        CoalitionSolution differences = solve_for_seed_groups(input, GroupNoise::difference);
        if (differences.value < solution.value) {
            differences.lower_bound = solution.lower_bound;
            solution = std::move(differences);
        }
    }
    return solution;
}

}  // namespace

CoalitionSolution solve_for_seed_groups(const DesignInput& input, GroupNoise shape) {
    static Recent<CoalitionSolution> recent;
    const RelativeLimits limits = relative_limits(input.kappa);
    CoalitionOptions options;
    options.coalition_size = input.coalition_size;
    options.common_variance = input.common_variance;
    options.variance_cap = input.variance_cap;
    options.relative_gap = input.gap;
    options.instead = ", or --mechanism " + quick_mechanism();
    const Eigen::MatrixXd utility = design_utility(input);
    return recent.get(
        digest_of(utility, limits.kappa, input.seed_groups, shape, options),
        [&] {
            return solve_coalition_covariance(
                utility, limits.kappa, input.seed_groups, shape, options);
        },
        bytes_of);
}

Design make_seed_group_design(std::string mechanism,
                              const DesignInput& input,
                              const CoalitionSolution& solution,
                              const std::vector<Eigen::MatrixXd>& factors) {
    NoisePlan plan = make_group_plan(
        std::move(mechanism), solution.private_variance, input.seed_groups, factors);
    plan.scale = 1 / std::sqrt(relative_limits(input.kappa).unit);
    plan.coalition_size = input.coalition_size;
    return {finish_plan(std::move(plan), input.kappa),
            solution.value,
            solution.lower_bound,
            solution.capped};
}

Design design_free_groups(std::string mechanism, const DesignInput& input) {
    const CoalitionSolution solution = solve_for_free_groups(input);
    // What is left out is added again by raising the scale.
    const double negligible = 1e-7 * solution.private_variance.minCoeff();
    std::vector<Eigen::MatrixXd> factors;
    for (const auto& block : solution.group_covariance)
        factors.push_back(block_factor(block, negligible));
    return make_seed_group_design(std::move(mechanism), input, solution, factors);
}

}  // namespace sotto
