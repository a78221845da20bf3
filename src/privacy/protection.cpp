#include "privacy/protection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "plan/lagged_noise.hpp"
#include "privacy/large_plans.hpp"
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
    constexpr int digits = 9;  // the difference may be small
    const PrivacyLoss loss = loss_of(plan.distribution(), exposure, precision);
    if (loss.within(budget.limit, verification_tolerance)) return;
    throw PrivacyError(
        fmt::format("the plan ({}) does not protect agent {}: {}, allowed {} (epsilon {} at delta "
                    "{}, calibration {}); solve a plan for this budget",
                    plan.mechanism,
                    agent,
                    parameter_text(loss, digits),
                    parameter_text(budget.limit, digits),
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

namespace {

/// The largest precision of some agents, in their order, of a large plan.
Eigen::VectorXd precision_near(const NoisePlan& plan,
                               const PairwiseNoise& noise,
                               std::span<const int> agents,
                               std::span<const Exposure> exposures,
                               std::span<const PrivacyBudget> budgets,
                               int coalition_size) {
    check_coalition_size(plan.agents, coalition_size);
    LocalFlow::Options options = local_options(plan.agents);
    const double square = plan.scale * plan.scale;
    const auto found = local_precisions(noise, agents, coalition_size, options);
    Eigen::VectorXd precision(std::ssize(agents));
    for (std::size_t i = 0; i < agents.size(); ++i) {
        const auto place = static_cast<std::size_t>(agents[i]);
        const auto within = [&](double bound) {
            return loss_of(plan.distribution(), exposures[place], bound / square)
                .within(budgets[place].limit, verification_tolerance);
        };
        double bound = found[i].upper;
        if (!within(bound) && within(found[i].lower)) {  // nearer bounds may tell
            constexpr double nearer = 0.03;
            LocalFlow::Options near = options;
            near.tolerance *= nearer;
            near.most_agents = plan.agents;
            bound = std::min(
                bound,
                local_precisions(noise, agents.subspan(i, 1), coalition_size, near)[0].upper);
        }
        precision(static_cast<Eigen::Index>(i)) = bound / square;
    }
    return precision;
}

/// coalition_precision of some agents, in their order.
Eigen::VectorXd precision_of(const NoisePlan& plan,
                             std::span<const int> agents,
                             std::span<const Exposure> exposures,
                             std::span<const PrivacyBudget> budgets,
                             int coalition_size) {
    // Without a bound for all agents there is none on the finest grid of noise on messages.
    if (plan.entry != NoiseEntry::message)
        if (const auto noise = large_pairwise_noise(plan))
            return precision_near(plan, *noise, agents, exposures, budgets, coalition_size);
    const Eigen::VectorXd all = coalition_precision(plan, coalition_size);
    if (plan.entry == NoiseEntry::message)
        verify_grid_of_messages(
            plan, 1 / std::sqrt(all.maxCoeff() * largest_round_precision(plan.temporal)));
    Eigen::VectorXd precision(std::ssize(agents));
    for (std::size_t i = 0; i < agents.size(); ++i)
        precision(static_cast<Eigen::Index>(i)) = all(agents[i]);
    return precision;
}

}  // namespace

void verify_agents_protected(const NoisePlan& plan,
                             std::span<const int> agents,
                             std::span<const Exposure> exposures,
                             std::span<const PrivacyBudget> budgets,
                             int coalition_size) {
    const Eigen::VectorXd precision =
        precision_of(plan, agents, exposures, budgets, coalition_size);
    const double round_precision = largest_round_precision(plan.temporal);
    for (std::size_t i = 0; i < agents.size(); ++i) {
        const auto place = static_cast<std::size_t>(agents[i]);
        const double of_agent = precision(static_cast<Eigen::Index>(i));
        verify_budget(plan, agents[i], exposures[place], budgets[place], of_agent);
        verify_grid(plan, agents[i], 1 / std::sqrt(of_agent * round_precision));
    }
}

double count_coalitions(int agents, int size) {
    double count = 1;
    for (int i = 0; i < size; ++i) count = count * (agents - i) / (i + 1);
    return count;
}

void check_coalition_size(int agents, int size) {
    if (size < 0 || (size > 0 && size >= agents))
        throw ConfigError(fmt::format("coalition-size: {} is not allowed (0 to {} of {} agents)",
                                      size,
                                      std::max(agents - 1, 0),
                                      agents));
    if (agents <= most_dense_agents) check_coalition_count(agents, size);
}

void check_coalition_count(int agents, int size) {
    constexpr double most = 1e6;
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
