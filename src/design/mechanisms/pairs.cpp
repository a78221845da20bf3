#include <fmt/format.h>

#include "design/group_plan.hpp"
#include "design/mechanisms/table.hpp"
#include "design/seed_group_design.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/names.hpp"

namespace sotto {

namespace {

/// R = diag(s2_u) + sum over pairs of c_e (e_u - e_v)(e_u - e_v)^T: every pair its own weight,
/// every agent its own private variance. Pair noise cancels in the mean of the network.
Design design_pairs(const DesignInput& input) {
    for (const auto& group : input.seed_groups)
        if (group.members.size() != 2)
            throw ConfigError(fmt::format(
                "seed-groups: mechanism pairs needs groups of two agents (allowed: edges, "
                "all-pairs, nearest:K, circulant:K, or a FILE of pairs); {} takes larger groups",
                join(mechanisms_with(&Mechanism::larger_groups), ", ")));
    const CoalitionSolution solution = solve_for_seed_groups(input, GroupNoise::difference);
    std::vector<Eigen::MatrixXd> factors;
    for (const auto& block : solution.group_covariance)
        factors.push_back(difference_factor(block(0, 0)));
    return make_seed_group_design("pairs", input, solution, factors);
}

}  // namespace

Mechanism pairs_mechanism() {
    return {
        .name = "pairs",
        .summary = "private noise plus pair noise that cancels, optimal against curious agents too",
        .design = design_pairs,
        .coalitions = true,
        .default_coalition_size = 1,
        .sharing = SeedSharing::seed_groups,
        .spatial_part = true};
}

}  // namespace sotto
