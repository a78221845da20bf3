#include "privacy/protection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "plan/lagged_noise.hpp"
#include "sotto/core/error.hpp"
#include "sotto/privacy/accountant.hpp"

namespace sotto {

namespace {

constexpr double verification_tolerance = 1e-9;
/// Grid step for noise on messages; plans use 2^-40, rounded down.
constexpr int finest_message_grid_log2 = -42;

void verify_budget(const NoisePlan& plan,
                   int agent,
                   const Exposure& exposure,
                   const PrivacyBudget& budget,
                   double precision) {
    const PrivacyLoss loss = loss_of(plan.distribution(), exposure, precision);
    if (loss.within(budget.limit, verification_tolerance)) return;
    throw PrivacyError(
        fmt::format("the plan ({}) does not protect agent {}: {} = {:.9g}, allowed {:.9g} (epsilon "
                    "{} at delta {}, calibration {}); solve a plan for this budget",
                    plan.mechanism,
                    agent,
                    budget.limit.parameter().name,
                    loss.parameter().value,
                    budget.limit.parameter().value,
                    budget.epsilon,
                    budget.delta,
                    name_of(budget.calibration)));
}

void verify_grid(const NoisePlan& plan, int agent, double conditional_std) {
    if (plan.grid_step() <= std::ldexp(conditional_std, -20)) return;
    throw PrivacyError(
        fmt::format("the plan's grid step {:.3g} is too coarse for agent {}: at most 2^-20 of its "
                    "conditional noise standard deviation {:.3g} is allowed",
                    plan.grid_step(),
                    agent,
                    conditional_std));
}

/// @param conditional_std the smallest over the agents.
void verify_grid_of_messages(const NoisePlan& plan, double conditional_std) {
    if (plan.grid_step() >= std::ldexp(conditional_std, finest_message_grid_log2)) return;
    throw PrivacyError(fmt::format(
        "the plan's grid step {:.3g} is too fine: at least 2^{} of the smallest conditional noise "
        "standard deviation {:.3g} is needed",
        plan.grid_step(),
        finest_message_grid_log2,
        conditional_std));
}

}  // namespace

void verify_agents_protected(const NoisePlan& plan,
                             std::span<const int> agents,
                             std::span<const Exposure> exposures,
                             std::span<const PrivacyBudget> budgets,
                             int coalition_size) {
    const Eigen::VectorXd precision = coalition_precision(plan, coalition_size);
    const double round_precision = largest_round_precision(plan.temporal);
    for (const int agent : agents) {
        const auto place = static_cast<std::size_t>(agent);
        verify_budget(plan, agent, exposures[place], budgets[place], precision(agent));
        verify_grid(plan, agent, 1 / std::sqrt(precision(agent) * round_precision));
    }
    if (plan.entry == NoiseEntry::message)
        verify_grid_of_messages(plan, 1 / std::sqrt(precision.maxCoeff() * round_precision));
}

double count_coalitions(int agents, int size) {
    double count = 1;
    for (int i = 0; i < size; ++i) count = count * (agents - i) / (i + 1);
    return count;
}

void check_coalition_size(int agents, int size) {
    constexpr double most = 1e6;
    if (size < 0 || (size > 0 && size >= agents))
        throw ConfigError(fmt::format("coalition-size: {} is not allowed (0 to {} of {} agents)",
                                      size,
                                      std::max(agents - 1, 0),
                                      agents));
    if (const double count = count_coalitions(agents, size); count > most)
        throw ConfigError(fmt::format(
            "coalition-size: {} of {} agents are {:.3g} coalitions; at most {:g} can be "
            "checked",
            size,
            agents,
            count,
            most));
}

std::vector<int> first_coalition(int size) {
    std::vector<int> coalition(static_cast<std::size_t>(size));
    std::iota(coalition.begin(), coalition.end(), 0);
    return coalition;
}

bool next_coalition(std::vector<int>& coalition, int agents) {
    const auto size = static_cast<int>(coalition.size());
    for (int i = size - 1; i >= 0; --i) {
        const auto place = static_cast<std::size_t>(i);
        if (coalition[place] >= agents - size + i) continue;
        ++coalition[place];
        for (std::size_t j = place + 1; j < coalition.size(); ++j)
            coalition[j] = coalition[j - 1] + 1;
        return true;
    }
    return false;
}

}  // namespace sotto
