#include "account/account_subject.hpp"

#include <fmt/format.h>

#include "account/departures.hpp"
#include "account/process_exchanges.hpp"
#include "planning/configured_gossip.hpp"
#include "planning/planning.hpp"
#include "planning/push_sum_limits.hpp"
#include "sotto/agent/bootstrap.hpp"
#include "sotto/core/names.hpp"
#include "sotto/net/agreement.hpp"
#include "sotto/views/process_steps.hpp"

namespace sotto {

AccountSubject::AccountSubject(BuiltTopography topography, NoisePlan noise)
    : built(std::move(topography)), plan(std::move(noise)) {
    process.graph = &built.topography.graph;
    process.plan = &plan;
}

std::unique_ptr<AccountSubject> build_account_subject(const SubjectConfig& config,
                                                      Network& network) {
    std::optional<BuiltTopography> built;
    std::vector<PrivacyBudget> budgets;
    std::vector<Exposure> exposures;
    std::optional<PlannedNoise> planned;
    const bool leader = network.process() == 0;
    network.agree([&] {
        if (config.sensitivity) require_positive("--sensitivity", *config.sensitivity);
        require_chosen_gossip_steps(config.plan);
        built = build_topography(config.graph, config.plan);
        const int agents = built->topography.graph.agents();
        exposures = build_exposures(config.plan, agents, {});
        const std::optional<double> sensitivity = config.sensitivity      ? config.sensitivity
                                                  : config.plan.noise_std ? std::optional(1.0)
                                                                          : std::nullopt;
        if (sensitivity)
            for (auto& exposure : exposures) exposure.sensitivity = *sensitivity;
        budgets = build_budgets(config.plan, agents);
        count_sampling(budgets, exposures, config.plan, Membership::everybody(agents).numbers);
        // A rating nobody reads here, which takes a decomposition otherwise.
        PlanConfig design = config.plan;
        if (design.plan_file || !find_mechanism("mechanism", design.mechanism).uses_utility)
            design.utility = {Utility::Kind::one_step, 1};
        design = with_temporal(design, choose_temporal(design, built->topography, {}, 1));
        if (leader) planned = plan_noise(design, built->topography, exposures, budgets, false);
    });
    require_same_everywhere(
        network,
        to_hex(built->topography.graph.hash()) + to_hex(built->topography.mixing_hash()),
        [](std::size_t rank, const std::string&, const std::string&) {
            return fmt::format(
                "rank {} has read another graph or mixing matrix than rank 0; give all ranks the "
                "same files",
                rank);
        });
    NoisePlan plan = share_plan(network,
                                planned ? std::optional(planned->design.plan) : std::nullopt,
                                built->topography.graph,
                                most_temporal_values(config.plan));
    auto subject = std::make_unique<AccountSubject>(std::move(*built), std::move(plan));
    network.agree([&] {
        CountedPlan counted =
            count_plan(subject->plan, config.plan, subject->built.topography, exposures, budgets);
        subject->exposures = std::move(counted.exposures);
        subject->delta = counted.budgets.front().delta;
        subject->use = plan_use(config.plan, subject->built.topography.mixing);
        subject->process.phases =
            phases_of(subject->built.topography, config.graph, config.plan, config.departures);
        if (subject->process.phases.size() > 1 &&
            subject->plan.distribution() == StreamDistribution::laplace)
            throw ConfigError(
                fmt::format("--departures: not possible with mechanism {}, whose noise is Laplace "
                            "(allowed: nobody leaves, or Gaussian noise)",
                            subject->plan.mechanism));
        set_exchanges(subject->process, config.plan);
        require_possible_push_sum(subject->built.topography, subject->plan, config.l2);
        subject->process.step_sizes =
            process_steps(subject->plan, config.plan.steps, config.l2, config.plan.rounds);
    });
    if (planned) subject->plan_seconds = planned->seconds;
    return subject;
}

}  // namespace sotto
