#include "account/person_account.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "privacy/person_loss.hpp"
#include "sotto/core/error.hpp"

namespace sotto {

namespace {

constexpr std::string_view unit_agents_option = "--unit-agents";

/// A plan with its agents' exposures, and which of its places are whose.
struct ExposedPlan {
    const NoisePlan& plan;
    std::vector<Exposure> exposures;
    Membership members;
};

/// The worst person of one plan.
WorstPerson worst_of(const ExposedPlan& exposed,
                     const ViewQuery& query,
                     const std::vector<int>& targets,
                     int agents) {
    PersonQuery persons{agents, reach_of(exposed.exposures), {}};
    for (int place = 0; place < exposed.members.size(); ++place)
        if (!std::ranges::binary_search(targets, exposed.members.number(place)))
            persons.reach(place) = 0;
    WorstPerson worst;
    if (query.is_search()) {
        const int size = std::min(query.arguments.size, exposed.plan.agents - 1);
        worst = worst_person(exposed.plan, size, persons);
    } else {
        std::vector<std::vector<int>> coalitions;
        for (const View& view : query.observers)
            coalitions.push_back(exposed.members.places(view.members));
        worst = worst_person(exposed.plan, coalitions, persons);
    }
    for (std::vector<int>* const places : {&worst.agents, &worst.coalition})
        for (int& place : *places) place = exposed.members.number(place);
    return worst;
}

/// The plans of a run's phases and surveys, or the one of the options.
std::vector<ExposedPlan> plans_of(const AccountSubject& subject) {
    if (subject.phases.empty())
        return {{subject.plan, subject.exposures, Membership::everybody(subject.plan.agents)}};
    std::vector<ExposedPlan> plans;
    for (std::size_t k = 0; k < subject.phases.size(); ++k) {
        const PrivacyPhase& phase = subject.phases[k];
        const long rounds = rounds_sent(subject.phases, k, subject.rounds);
        if (rounds > 0) plans.push_back({phase.plan, exposures_of(phase, rounds), phase.members});
    }
    return plans;
}

}  // namespace

std::optional<PersonAccount> account_for_persons(const AccountConfig& config,
                                                 const AccountSubject& subject,
                                                 const ViewQuery& query,
                                                 const std::vector<int>& targets) {
    const int agents = config.subject.plan.unit_agents;
    if (agents == 1) return std::nullopt;
    require_possible_persons(unit_agents_option,
                             agents,
                             static_cast<int>(targets.size()),
                             subject.plan.distribution(),
                             subject.use.participation);
    if (subject.phases.empty() && subject.process.phases.size() != 1)
        throw ConfigError(fmt::format(
            "{}: {} is not possible with --departures (allowed: 1, or a run with --run)",
            unit_agents_option,
            agents));
    PersonAccount account;
    account.agents = agents;
    PrivacyLoss loss, reached;
    for (const ExposedPlan& exposed : plans_of(subject)) {
        WorstPerson worst = worst_of(exposed, query, targets, agents);
        loss += loss_of_person(exposed.plan, exposed.exposures, agents, worst.upper);
        reached += loss_of_person(exposed.plan, exposed.exposures, agents, worst.reached);
        account.exhaustive = account.exhaustive && worst.exhaustive;
        account.probability =
            std::min(account.probability, joint_probability(exposed.exposures, agents));
        ++account.plans;
        account.worst = std::move(worst);
    }
    account.guarantee = guarantee_of(loss, subject.delta);
    account.at_least = guarantee_of(reached, subject.delta);
    return account;
}

}  // namespace sotto
