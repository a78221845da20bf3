#include <cmath>
#include <numeric>

#include "noise/finish_plan.hpp"
#include "noise/mechanisms/table.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/linear_algebra.hpp"
#include "sotto/noise/spatial_solver.hpp"

namespace sotto {

namespace {

/// R = L L^T from n streams that derive from one seed held by all agents.
NoisePlan one_seed_plan(const Eigen::MatrixXd& lower, double scale) {
    NoisePlan plan;
    plan.mechanism = "corn";
    plan.agents = static_cast<int>(lower.rows());
    plan.scale = scale;
    std::vector<int> everybody(static_cast<std::size_t>(plan.agents));
    std::iota(everybody.begin(), everybody.end(), 0);
    plan.groups.push_back({everybody});
    for (int u = 0; u < plan.agents; ++u) {
        plan.streams.push_back({0, static_cast<std::uint64_t>(u), StreamDistribution::gaussian});
        NoiseRow row;
        row.sender = u;
        row.streams.assign(everybody.begin(), everybody.begin() + u + 1);
        for (int k = 0; k <= u; ++k) row.coefficients.push_back(lower(u, k));
        plan.rows.push_back(std::move(row));
    }
    return plan;
}

/// Any R. F is the Cholesky factor: agent u draws u+1 streams a round instead of n, half the work
/// of a square root.
Design design_corn(const DesignInput& input) {
    const RelativeLimits limits = relative_limits(input.kappa);
    SpatialOptions options;
    options.variance_cap = input.variance_cap;
    SpatialSolution solution =
        solve_spatial_covariance(design_utility(input), limits.kappa, options);
    if (!cholesky(solution.covariance))
        throw PrivacyError(
            "mechanism corn: the optimal covariance is numerically not positive definite; lower "
            "the variance cap");
    return {
        finish_plan(one_seed_plan(solution.covariance, 1 / std::sqrt(limits.unit)), input.kappa),
        solution.value,
        solution.lower_bound,
        solution.status == SpatialStatus::capped};
}

}  // namespace

Mechanism corn_mechanism() {
    return {.name = "corn",
            .summary = "optimal correlated noise from one seed that all agents share",
            .design = design_corn,
            .sharing = SeedSharing::everybody,
            .spatial_part = true};
}

}  // namespace sotto
