#include "design/finish_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "design/solver_input.hpp"
#include "sotto/core/error.hpp"
#include "sotto/plan/lagged_noise.hpp"
#include "sotto/privacy/accountant.hpp"
#include "sotto/privacy/temporal_sensitivity.hpp"

namespace sotto {

RelativeLimits relative_limits(const Eigen::VectorXd& kappa) {
    require_kappa(kappa);
    const double unit = kappa.minCoeff();
    return {kappa / unit, unit};
}

NoisePlan finish_plan(NoisePlan plan, const Eigen::VectorXd& kappa) {
    const Eigen::VectorXd precision = coalition_precision(plan, plan.coalition_size);
    if (!precision.allFinite())
        throw PrivacyError(fmt::format(
            "mechanism {}: its noise does not cover every agent (numerically singular covariance); "
            "lower the variance cap",
            plan.mechanism));
    const double excess = precision.cwiseQuotient(kappa).maxCoeff();
    if (excess > 1) plan.scale *= std::sqrt(excess);
    const double smallest_std = 1 / std::sqrt(precision.maxCoeff() / std::max(excess, 1.0));
    plan.grid_step_log2 = static_cast<int>(std::floor(std::log2(smallest_std))) - 20;
    plan.validate();
    return plan;
}

NoisePlan correlate_over_rounds(NoisePlan plan, const DesignInput& input, TemporalFactor factor) {
    plan.temporal = std::move(factor);
    plan.scale *=
        std::sqrt(temporal_sensitivity_squared(plan.temporal, input.participation, input.rounds) /
                  temporal_sensitivity_squared({}, input.participation, input.rounds));
    const double quieter = -0.5 * std::log2(largest_round_precision(plan.temporal));
    plan.grid_step_log2 += std::min(0, static_cast<int>(std::floor(quieter)));
    plan.validate();
    return plan;
}

}  // namespace sotto
