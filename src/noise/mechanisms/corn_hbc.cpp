#include <algorithm>
#include <utility>

#include "noise/group_plan.hpp"
#include "noise/mechanisms/table.hpp"
#include "noise/seed_group_design.hpp"

namespace sotto {

namespace {

CoalitionSolution solve(const DesignInput& input) {
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

/// R = diag(s2_u) + sum over seed groups of R_k, any covariance of its members. [C] section V-D.
Design design_corn_hbc(const DesignInput& input) {
    const CoalitionSolution solution = solve(input);
    // What is left out is added again by raising the scale.
    const double negligible = 1e-7 * solution.private_variance.minCoeff();
    std::vector<Eigen::MatrixXd> factors;
    for (const auto& block : solution.group_covariance)
        factors.push_back(block_factor(block, negligible));
    return make_seed_group_design("corn-hbc", input, solution, factors);
}

}  // namespace

Mechanism corn_hbc_mechanism() {
    return {
        .name = "corn-hbc",
        .summary = "private noise plus optimal noise of seed groups, against curious agents too",
        .design = design_corn_hbc,
        .coalitions = true,
        .default_coalition_size = 1,
        .sharing = SeedSharing::seed_groups,
        .larger_groups = true,
        .spatial_part = true};
}

}  // namespace sotto
