#include "sotto/views/process_steps.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sotto/core/error.hpp"
#include "sotto/core/names.hpp"

namespace sotto {

std::vector<double> process_steps(const NoisePlan& plan,
                                  const StepSchedule& steps,
                                  double l2,
                                  long rounds) {
    require_in_range("l2", l2, 0, 1e6);
    if (plan.distribution() == StreamDistribution::laplace) return {};
    if (l2 == 0) {
        if (steps.kind == StepSchedule::Kind::constant && plan.entry == NoiseEntry::gradient)
            return {};
        return steps.over(rounds);
    }
    if (plan.entry != NoiseEntry::gradient)
        throw ConfigError(fmt::format(
            "l2: {} is not possible in a partial view of mechanism {}, whose noise is on messages "
            "(allowed: 0)",
            l2,
            plan.mechanism));
    std::vector<double> result = steps.over(rounds);
    constexpr double least = 1e-6;  // beyond, the filter would lose the older rounds to rounding
    double left = 1;
    for (std::size_t t = 0; t < result.size(); ++t) {
        const double step = result[t];
        if (t > 0) left *= 1 - step * l2;
        if (!(left >= least))
            throw ConfigError(fmt::format(
                "l2: {} with step size {} leaves less than {} of a message by round {}, which "
                "partial views do not account for",
                l2,
                step,
                least,
                t));
        result[t] = step / left;
    }
    const auto [smallest, largest] = std::ranges::minmax(result);
    if (largest - smallest <= 1e-15 * static_cast<double>(rounds + 1) * largest) return {};
    return result;
}

}  // namespace sotto
