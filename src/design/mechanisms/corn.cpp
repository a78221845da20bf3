#include <cmath>

#include "design/finish_plan.hpp"
#include "design/group_plan.hpp"
#include "design/mechanisms/table.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/linear_algebra.hpp"
#include "sotto/design/spatial_solver.hpp"

namespace sotto {

namespace {

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
    return {finish_plan(one_seed_plan("corn", solution.covariance, 1 / std::sqrt(limits.unit)),
                        input.kappa),
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
