#include <Eigen/Cholesky>
#include <numeric>

#include "sotto/core/error.hpp"
#include "sotto/noise/mechanism.hpp"
#include "sotto/noise/spatial_solver.hpp"

namespace sotto {

/// Any R, from n streams that derive from one seed held by all agents. F is the Cholesky factor:
/// agent u draws u+1 streams a round instead of n, half the work of a square root.
Design design_corn(const DesignInput& input) {
    const RelativeLimits limits = relative_limits(input.kappa);
    SpatialOptions options;
    options.variance_cap = input.variance_cap;
    const SpatialSolution solution =
        solve_spatial_covariance(design_utility(input), limits.kappa, options);
    const Eigen::LLT<Eigen::MatrixXd> factor(solution.covariance);
    if (factor.info() != Eigen::Success)
        throw PrivacyError(
            "mechanism corn: the optimal covariance is numerically not positive definite; lower "
            "the "
            "variance cap");
    const Eigen::MatrixXd lower = factor.matrixL();

    Design design;
    NoisePlan& plan = design.plan;
    plan.mechanism = "corn";
    plan.agents = input.graph->agents();
    plan.scale = 1 / std::sqrt(limits.unit);
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
    finish_plan(plan, input.kappa);
    design.objective = solution.value;
    design.lower_bound = solution.lower_bound;
    design.capped = solution.status == SpatialStatus::capped;
    return design;
}

}  // namespace sotto
