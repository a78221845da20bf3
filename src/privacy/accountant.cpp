#include "sotto/privacy/accountant.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "message_noise.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/numbers.hpp"
#include "sotto/plan/lagged_noise.hpp"
#include "sotto/privacy/coalitions.hpp"
#include "sotto/privacy/gdp.hpp"
#include "unknown_noise.hpp"

namespace sotto {

namespace {

constexpr double verification_tolerance = 1e-9;

}  // namespace

Eigen::MatrixXd spatial_covariance(const NoisePlan& plan) {
    return outer_product(unknown_coefficients(plan, {}));
}

Eigen::MatrixXd unknown_covariance(const NoisePlan& plan, const Observer& observer) {
    return outer_product(unknown_coefficients(plan, observer.coalition));
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

bool Guarantee::infinite() const { return std::isinf(std::isnan(mu) ? epsilon : mu); }

bool Guarantee::operator<(const Guarantee& other) const {
    return std::isnan(mu) ? epsilon < other.epsilon : mu < other.mu;
}

Guarantee guarantee_of(const NoisePlan& plan, double loss, double delta) {
    if (plan.distribution() == StreamDistribution::laplace) return {not_a_number, loss};
    return {loss, gdp_epsilon(loss, delta)};
}

namespace {

std::vector<Guarantee> guarantees_of(const NoisePlan& plan,
                                     const Eigen::VectorXd& precision,
                                     std::span<const Exposure> exposures,
                                     double delta) {
    std::vector<Guarantee> result(exposures.size());
    for (std::size_t u = 0; u < exposures.size(); ++u) {
        const double squared =
            exposures[u].temporal_sensitivity * precision(static_cast<Eigen::Index>(u));
        result[u] = guarantee_of(
            plan, squared == 0 ? 0 : exposures[u].sensitivity * std::sqrt(squared), delta);
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
    std::optional<CuriousAgent> worst;
    for (int observer = 0; observer < plan.agents; ++observer) {
        const auto against = guarantees(plan, {{observer}}, exposures, delta);
        for (int target = 0; target < plan.agents; ++target) {
            if (target == observer) continue;
            const Guarantee& guarantee = against[static_cast<std::size_t>(target)];
            if (!worst || worst->guarantee < guarantee)
                worst = CuriousAgent{observer, target, guarantee};
            if (guarantee.infinite()) return worst;
        }
    }
    return worst;
}

void verify_agents_protected(const NoisePlan& plan,
                             std::span<const int> agents,
                             std::span<const Exposure> exposures,
                             std::span<const PrivacyBudget> budgets,
                             int coalition_size) {
    const Eigen::VectorXd precision = coalition_precision(plan, coalition_size);
    const double round_precision = largest_round_precision(plan.temporal);
    for (const int agent : agents) {
        const auto& exposure = exposures[static_cast<std::size_t>(agent)];
        const auto& budget = budgets[static_cast<std::size_t>(agent)];
        const double loss =
            exposure.sensitivity * std::sqrt(exposure.temporal_sensitivity * precision(agent));
        if (!(loss <= budget.mu * (1 + verification_tolerance)))
            throw PrivacyError(
                fmt::format("the plan ({}) does not protect agent {}: {} = {:.9g}, allowed {:.9g} "
                            "(epsilon {} at "
                            "delta {}, calibration {}); solve a plan for this budget",
                            plan.mechanism,
                            agent,
                            budget.pure ? "epsilon" : "mu",
                            loss,
                            budget.mu,
                            budget.epsilon,
                            budget.delta,
                            name_of(budget.calibration)));
        const double conditional_std = 1 / std::sqrt(precision(agent) * round_precision);
        if (!(plan.grid_step() <= std::ldexp(conditional_std, -20)))
            throw PrivacyError(fmt::format(
                "the plan's grid step {:.3g} is too coarse for agent {}: at most 2^-20 of its "
                "conditional noise standard deviation {:.3g} is allowed",
                plan.grid_step(),
                agent,
                conditional_std));
    }
}

}  // namespace sotto
