#include "sotto/privacy/accountant.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "message_noise.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/numbers.hpp"
#include "sotto/privacy/budget.hpp"
#include "sotto/privacy/coalitions.hpp"
#include "unknown_noise.hpp"

namespace sotto {

Eigen::MatrixXd spatial_covariance(const NoisePlan& plan) {
    return outer_product(unknown_coefficients(plan, {}));
}

Eigen::VectorXd observed_precision(const NoisePlan& plan, const Observer& observer) {
    for (const int member : observer.coalition)
        if (member < 0 || member >= plan.agents)
            throw ConfigError(fmt::format(
                "coalition: agent {} does not exist (allowed: 0 to {})", member, plan.agents - 1));
    return is_spatial(plan) ? unknown_precision(plan, observer.coalition)
                            : message_precision(plan, observer.coalition);
}

Eigen::VectorXd coalition_precision(const NoisePlan& plan, int size) {
    check_coalition_size(plan.agents, size);
    Eigen::VectorXd largest = Eigen::VectorXd::Zero(plan.agents);
    for_each_coalition(plan.agents, size, [&](const std::vector<int>& coalition) {
        const Eigen::VectorXd precision = observed_precision(plan, {coalition});
        for (int u = 0; u < plan.agents; ++u)
            if (!std::binary_search(coalition.begin(), coalition.end(), u))
                largest(u) = std::max(largest(u), precision(u));
    });
    return largest;
}

namespace {

std::vector<Guarantee> guarantees_of(const NoisePlan& plan,
                                     const Eigen::VectorXd& precision,
                                     std::span<const Exposure> exposures,
                                     double delta) {
    std::vector<Guarantee> result(exposures.size());
    for (std::size_t u = 0; u < exposures.size(); ++u) {
        const StreamDistribution noise = plan.distribution();
        result[u] =
            guarantee_of(loss_of(noise, exposures[u], precision(static_cast<Eigen::Index>(u))),
                         stated_delta(noise, delta));
    }
    return result;
}

}  // namespace

std::vector<Guarantee> guarantees(const NoisePlan& plan,
                                  const Observer& observer,
                                  std::span<const Exposure> exposures,
                                  double delta) {
    return guarantees_of(plan, observed_precision(plan, observer), exposures, delta);
}

std::vector<Guarantee> coalition_guarantees(const NoisePlan& plan,
                                            int size,
                                            std::span<const Exposure> exposures,
                                            double delta) {
    return guarantees_of(plan, coalition_precision(plan, size), exposures, delta);
}

std::optional<CuriousAgent> worst_curious_agent(const NoisePlan& plan,
                                                std::span<const Exposure> exposures,
                                                double delta) {
    // A target loses most to whoever knows its noise best.
    Eigen::VectorXd largest = Eigen::VectorXd::Constant(plan.agents, -1);
    std::vector<int> observers(static_cast<std::size_t>(plan.agents), -1);
    for (int observer = 0; observer < plan.agents; ++observer) {
        const Eigen::VectorXd precision = observed_precision(plan, {{observer}});
        for (int target = 0; target < plan.agents; ++target)
            if (target != observer && precision(target) > largest(target)) {
                largest(target) = precision(target);
                observers[static_cast<std::size_t>(target)] = observer;
            }
    }
    if (plan.agents < 2) return std::nullopt;
    const std::vector<Guarantee> against = guarantees_of(plan, largest, exposures, delta);
    const auto target = std::ranges::max_element(against, std::less()) - against.begin();
    return CuriousAgent{observers[static_cast<std::size_t>(target)],
                        static_cast<int>(target),
                        against[static_cast<std::size_t>(target)]};
}

}  // namespace sotto
