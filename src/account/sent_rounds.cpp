#include "account/sent_rounds.hpp"

#include <algorithm>
#include <map>

#include "account/departures.hpp"
#include "account/process_exchanges.hpp"
#include "planning/configured_mixing.hpp"
#include "sotto/views/process_steps.hpp"

namespace sotto {

const PrivacyPhase* SentRounds::of(int agent) const {
    const auto found = std::ranges::find_if(
        phases, [&](const PrivacyPhase* phase) { return phase->members.place(agent) >= 0; });
    return found == phases.end() ? nullptr : *found;
}

Exposure SentRounds::exposure(int agent) const {
    const PrivacyPhase& there = *of(agent);
    const int place = there.members.place(agent);
    Exposure exposure;
    exposure.sensitivity = there.sensitivity[static_cast<std::size_t>(place)];
    exposure.sampling_probability = there.probability(place);
    std::map<long, long> by_pattern;
    for (const long round : process.training_rounds())
        ++by_pattern[round % there.use.participation.cycle];
    for (const auto& [pattern, count] : by_pattern)
        exposure.sensitivity_squared_over_rounds =
            std::max(exposure.sensitivity_squared_over_rounds, static_cast<double>(count));
    return exposure;
}

std::vector<NoisePlan> plans_by_number(const std::vector<PrivacyPhase>& phases) {
    std::vector<NoisePlan> plans;
    for (const PrivacyPhase& phase : phases) plans.push_back(renumbered(phase.plan, phase.members));
    return plans;
}

long rounds_sent(const std::vector<PrivacyPhase>& phases, std::size_t k, long rounds) {
    return k + 1 == phases.size() ? rounds - phases[k].use.steps.first_round : phases[k].rounds;
}

SentRounds sent_rounds(const TrainConfig& config,
                       const Topography& topography,
                       const std::vector<PrivacyPhase>& phases,
                       const std::vector<NoisePlan>& plans,
                       long rounds) {
    SentRounds sent;
    sent.completed = rounds;
    sent.process.graph = &topography.graph;
    long position = 0, furthest = 0;  // training rounds
    for (std::size_t k = 0; k < phases.size(); ++k) {
        const PrivacyPhase& phase = phases[k];
        const long first = phase.use.steps.first_round;
        const long here = rounds_sent(phases, k, rounds);
        if (here <= 0) continue;
        const bool everybody = phase.members.size() == phase.members.all;
        MixingSchedule mixing =
            everybody
                ? topography.schedule().from(first)
                : MixingSchedule({mixing_of_all(
                      topography.graph,
                      configured_mixing(
                          config.graph, &config.plan, topography.graph, phase.members.numbers),
                      phase.members)});
        sent.process.phases.push_back(
            {here, std::move(mixing), phase.members.gone(), nullptr, position - first});
        if (sent.phases.empty())
            sent.process.plan = &plans[k];
        else
            sent.process.phases.back().plan = &plans[k];
        sent.phases.push_back(&phase);
        sent.rounds.push_back(here);
        position = first + here;
        furthest = std::max(furthest, position);
    }
    if (sent.phases.empty()) return sent;
    set_exchanges(sent.process, config.plan);
    const std::vector<double> steps =
        process_steps(*sent.process.plan, config.plan.steps, config.l2, furthest);
    if (!steps.empty())
        for (const long round : sent.process.training_rounds())
            sent.process.step_sizes.push_back(steps[static_cast<std::size_t>(round)]);
    return sent;
}

}  // namespace sotto
