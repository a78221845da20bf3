#include "training/agreed_phase.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "planning/asked_plan.hpp"
#include "planning/local_updates.hpp"
#include "sotto/agent/bootstrap.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/names.hpp"
#include "training/resumed_phase.hpp"

namespace sotto {

namespace {

/// @throws ConfigError for options that the task makes no sense with.
void require_possible_with(const LocalTask& task, const TrainConfig& config) {
    if (!task.has_records && !protects_agents(config.plan.adjacency))
        throw ConfigError(
            fmt::format("adjacency: '{}' needs a task with records; task '{}' has none (allowed: "
                        "agent, agent-zero-out)",
                        name_of(config.plan.adjacency),
                        config.task.task));
    require_possible_updates(config, task);
    if (task.l2 && config.l2 != *task.l2)
        throw ConfigError(fmt::format(
            "l2: {} is not possible with task '{}', whose models would not come to what it "
            "estimates (allowed: {})",
            config.l2,
            config.task.task,
            *task.l2));
}

/// Where noise depends on the receiver, an agent's own copy of its message carries contributions on
/// from round to round, times 1 - eta_t l2: run_sensitivity_squared bounds that while it is at most
/// 1. @throws ConfigError otherwise.
void require_fading_contributions(const TrainConfig& config, const NoisePlan& plan) {
    if (config.l2 == 0 || plan.same_message_to_all()) return;
    const std::vector<double> steps = config.plan.steps.over(config.plan.rounds);
    const double largest = *std::ranges::max_element(steps);
    if (largest * config.l2 > 2)
        throw ConfigError(fmt::format(
            "l2: {} with step size {} would make contributions grow from round to round, which "
            "the guarantee of mechanism {} does not count (allowed: up to 2 / step size, {:.6g})",
            config.l2,
            largest,
            plan.mechanism,
            2 / largest));
}

std::vector<PrivacyBudget> budgets_of(const std::vector<PrivacyBudget>& run_budgets,
                                      const Membership& members) {
    std::vector<PrivacyBudget> budgets;
    for (const int number : members.numbers)
        budgets.push_back(run_budgets[static_cast<std::size_t>(number)]);
    return budgets;
}

/// Budgets for secretly sampled rounds: of all where this process plans, else of its own agents.
void count_sampling(AgreedPhase& phase, const Participants& there, std::span<const int> local) {
    const std::vector<int>& all = there.members.numbers;
    std::vector<int> places(all.size());
    std::iota(places.begin(), places.end(), 0);
    std::optional<PrivacyLosses> spent;
    if (phase.resumption) spent = spent_before(*phase.resumption, phase.config, there.members);
    count_sampling(phase.budgets,
                   phase.exposures,
                   phase.config,
                   there.solves ? std::span<const int>(places) : local,
                   [&](int place, long pattern) {
                       return spent ? spent->of(there.members.number(place), pattern)
                                    : PrivacyLoss();
                   });
}

/// With exposures and budgets that count the phase; `planned` where this process builds. LOCAL.
/// @param local places of this process.
AgreedPhase plan_for(AgreedPhase phase,
                     const TrainConfig& config,
                     const Participants& there,
                     const LocalTask& task,
                     std::span<const int> local) {
    require_possible_with(task, config);
    phase.exposures = build_exposures(phase.config, there.members.size(), task.records);
    phase.run_budgets = build_budgets(config.plan, there.members.all);
    phase.budgets = budgets_of(phase.run_budgets, there.members);
    if (phase.resumption) {
        require_same_task(task, *phase.resumption);
        phase.budgets = phase_budgets(std::move(phase.budgets),
                                      *phase.resumption,
                                      phase.config,
                                      there.topography,
                                      there.members);
    }
    count_sampling(phase, there, local);
    if (!there.solves) return phase;
    phase.planned = phase.resumption && phase.resumption->going_on
                        ? kept_plan(*phase.resumption->going_on, phase.config)
                        : plan_phase(phase.config,
                                     there.topography,
                                     phase.exposures,
                                     phase.budgets,
                                     phase.resumption.has_value());
    return phase;
}

}  // namespace

AgreedPhase agree_on_phase(const TrainConfig& config,
                           Network& network,
                           const Participants& participants,
                           const LocalTask& task,
                           std::optional<Resumption> resumption) {
    const Topography& topography = participants.topography;
    const long first_round = resumption ? resumption->first_round : 0;
    AgreedPhase phase;
    phase.config = config.plan;
    phase.config.rounds = config.plan.rounds - first_round;
    phase.config.steps.first_round = first_round;
    phase.resumption = std::move(resumption);
    network.agree([&] {
        phase = plan_for(std::move(phase), config, participants, task, network.local_agents());
    });
    phase.plan =
        share_plan(network,
                   phase.planned ? std::optional(phase.planned->design.plan) : std::nullopt,
                   topography.graph,
                   most_temporal_values(config.plan));
    int coalition_size = 0;
    network.agree([&] {
        require_asked_plan(phase.plan, config.plan, topography.graph);
        require_everybody_for(phase.plan, participants.members);
        coalition_size = coalition_size_of(phase.config, phase.plan.agents, &phase.plan);
        CountedPlan counted = count_plan(phase.plan,
                                         phase.config,
                                         topography,
                                         std::move(phase.exposures),
                                         std::move(phase.budgets));
        phase.exposures = std::move(counted.exposures);
        phase.budgets = std::move(counted.budgets);
        require_fading_contributions(config, phase.plan);
    });
    verify_agreement(
        network, topography, phase.plan, phase.exposures, phase.budgets, coalition_size);
    return phase;
}

}  // namespace sotto
