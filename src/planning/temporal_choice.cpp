#include "planning/temporal_choice.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "planning/agreed_choice.hpp"
#include "planning/configured_gossip.hpp"
#include "sotto/core/numbers.hpp"
#include "sotto/design/mechanism.hpp"

namespace sotto {

namespace {

bool leaves_shape_open(const PlanConfig& config) {
    return config.choose_temporal && !config.plan_file &&
           find_mechanism("mechanism", config.mechanism).takes_temporal;
}

RoundWork work_of(const PlanConfig& config,
                  const Topography& topography,
                  const std::vector<Eigen::Index>& records,
                  long dimension) {
    const long all = records.empty() ? 0 : static_cast<long>(std::ranges::max(records));
    return {topography.graph.agents(),
            dimension,
            static_cast<long>(config.batch_size.of(all).value_or(all))};
}

DesignInput rounds_of(const PlanConfig& config, const Topography& topography) {
    DesignInput input;
    input.mixing = &topography.mixing;
    if (!topography.later_mixing.empty())
        input.schedule = std::make_shared<const MixingSchedule>(
            topography.schedule().from(config.steps.first_round));
    input.rounds = config.rounds;
    input.steps = config.steps;
    input.gossip = configured_gossip(config, topography.mixing);
    input.participation = config.participation;
    input.temporal.restart = config.temporal.restart;
    return input;
}

}  // namespace

ShapeChoice choose_temporal(const PlanConfig& config,
                            const Topography& topography,
                            const std::vector<Eigen::Index>& records,
                            long dimension) {
    if (!leaves_shape_open(config)) return {};
    const RoundWork work = work_of(config, topography, records, dimension);
    if (config.choose_cycle) {
        const PastRounds past = affordable_past(work);
        const long band = std::min({past.kept, past.read, config.rounds});
        const TemporalShape widest{TemporalShape::Kind::banded, band, config.temporal.restart};
        ShapeChoice choice;
        choice.candidates = {{widest, not_a_number}};
        return choice;
    }
    return affordable_shape(rounds_of(config, topography), work);
}

PlanConfig with_temporal(PlanConfig config, const ShapeChoice& choice) {
    if (choice.candidates.empty()) return config;
    config.choose_temporal = false;
    config.temporal = choice.best();
    return config;
}

AgreedTemporal agree_on_temporal(PlanConfig config,
                                 Network& network,
                                 const Topography& topography,
                                 const std::vector<Eigen::Index>& records,
                                 long dimension,
                                 bool solves) {
    ShapeChoice choice;
    std::string own;
    network.agree([&] {
        if (!solves || !leaves_shape_open(config)) return;
        choice = choose_temporal(config, topography, records, dimension);
        own = temporal_text(with_temporal(config, choice).temporal);
    });
    const std::string said =
        agree_on_choice(network,
                        {"the shape", "--temporal auto", "which with --temporal"},
                        leaves_shape_open(config),
                        own);
    network.agree([&] {
        if (said.empty()) return;
        const long restart = config.temporal.restart;
        config.temporal = parse_temporal("temporal", said);
        config.temporal.restart = restart;
        config.choose_temporal = false;
    });
    return {std::move(config), std::move(choice)};
}

}  // namespace sotto
