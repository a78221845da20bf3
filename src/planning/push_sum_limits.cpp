#include "planning/push_sum_limits.hpp"

#include <fmt/format.h>

#include "sotto/core/error.hpp"

namespace sotto {

void require_possible_push_sum(const Topography& topography, const NoisePlan& plan, double l2) {
    if (!topography.mixing.push_sum()) return;
    if (l2 != 0)
        throw ConfigError(fmt::format(
            "l2: {} is not possible with --mixing push-sum, where it would shrink every "
            "agent's model by another factor (allowed: 0, or --mixing row-stochastic)",
            l2));
    if (plan.entry != NoiseEntry::gradient)
        throw ConfigError(fmt::format(
            "mixing: push-sum is not possible with a plan of mechanism {}, whose noise is "
            "on messages (allowed: row-stochastic)",
            plan.mechanism));
}

}  // namespace sotto
