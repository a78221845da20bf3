#include "planning/configured_gossip.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "design/optimal_gossip.hpp"
#include "planning/corrections.hpp"
#include "sotto/core/error.hpp"
#include "sotto/design/mechanism.hpp"
#include "sums/learnt_sums.hpp"

namespace sotto {

namespace {

constexpr double final_disagreement = 0.05;
constexpr long rounds_an_exchange = 20;

/// Rule of the exchanges after the last round.
GossipRule final_rule(const MixingMatrix& mixing) {
    return mixing.symmetric() && mixing_radius(mixing) < 1 ? GossipRule::chebyshev
                                                           : GossipRule::plain;
}

void require_fixed_mixing(const PlanConfig& config) {
    const auto refuse = [](std::string_view option, const std::string& value) {
        throw ConfigError(fmt::format(
            "{}: {} is not possible with a --mixing-schedule (allowed with fixed)", option, value));
    };
    if (config.gossip != GossipRule::plain) refuse("gossip", name_of(config.gossip));
    if (config.momentum > 0) refuse("momentum", fmt::format("{}", config.momentum));
    if (!config.average.none()) refuse("average", name_of(config.average));
    if (config.final_gossip.value_or(0) > 0)
        refuse("final-gossip", std::to_string(*config.final_gossip));
}

/// Without laziness.
GossipPolynomial gossip_of_rule(const PlanConfig& config, const MixingMatrix& mixing) {
    if (config.gossip != GossipRule::optimal)
        return gossip_polynomial(mixing, config.gossip, config.gossip_steps);
    Smoothing smoothing;
    smoothing.correction = config.correction;
    smoothing.momentum = config.momentum;
    smoothing.set_average(config.average, config.steps.first_round + config.rounds);
    const bool shared =
        find_mechanism("mechanism", config.mechanism).sharing != SeedSharing::nobody;
    return optimal_gossip(mixing,
                          config.gossip_steps,
                          UtilityGain(config.utility, config.rounds, 1, smoothing),
                          shared ? NoiseKind::correlated : NoiseKind::independent);
}

}  // namespace

bool mixes_hidden_models(const PlanConfig& config) {
    const Mechanism& mechanism = find_mechanism("mechanism", config.mechanism);
    return mechanism.aggregation == Aggregation::gossip && mechanism.entry == NoiseEntry::gradient;
}

GossipPolynomial configured_gossip(const PlanConfig& config, const MixingMatrix& mixing) {
    const GossipPolynomial gossip = gossip_of_rule(config, mixing);
    if (config.correction != Correction::exact_diffusion) return gossip;
    return gossip.with_laziness(laziness_for(mixing, gossip));
}

int exchanges_of(const PlanConfig& config) {
    return exchanges_a_round(config.correction, config.gossip_steps);
}

GossipPolynomial consensus_gossip(const MixingMatrix& mixing, double difference, int most) {
    const GossipRule rule = final_rule(mixing);
    return gossip_polynomial(mixing, rule, consensus_steps(mixing, rule, difference, most));
}

int final_gossip_steps(const PlanConfig& config, const MixingSchedule& mixing) {
    if (config.final_gossip) return *config.final_gossip;
    if (config.plan_file || !mixes_hidden_models(config) || !mixing.fixed()) return 0;
    const long exchanges = config.rounds * config.gossip_steps;
    return consensus_steps(
        mixing.at(0),
        final_rule(mixing.at(0)),
        final_disagreement,
        static_cast<int>(std::clamp(exchanges / rounds_an_exchange, 1L, 100000L)));
}

int exchanges_beside_rounds(const PlanConfig& config, const MixingSchedule& mixing) {
    return std::max(final_gossip_steps(config, mixing), config.precondition_every > 0 ? 1 : 0);
}

Smoothing configured_smoothing(const PlanConfig& config, const Topography& topography) {
    Smoothing smoothing;
    smoothing.correction = config.correction;
    smoothing.momentum = config.momentum;
    smoothing.set_average(config.average, config.steps.first_round + config.rounds);
    const int steps = final_gossip_steps(config, topography.schedule());
    smoothing.final_gossip =
        gossip_polynomial(topography.mixing, final_rule(topography.mixing), steps);
    return smoothing;
}

void require_possible_smoothing(const PlanConfig& config, const Topography& topography) {
    if (!topography.later_mixing.empty()) require_fixed_mixing(config);
    require_possible_correction(config, topography);
    if (topography.mixing.push_sum() && !config.average.none())
        throw ConfigError(
            fmt::format("average: {} is not possible with --mixing push-sum, where models are sums "
                        "and not what is learnt (allowed: none)",
                        name_of(config.average)));
    const Mechanism& mechanism = find_mechanism("mechanism", config.mechanism);
    if (config.gossip == GossipRule::optimal && !mixes_hidden_models(config))
        throw ConfigError(
            fmt::format("gossip: optimal is not possible with mechanism {}, whose noise does not "
                        "enter gradients that neighbours mix (allowed: plain, chebyshev)",
                        mechanism.name));
    const auto refuse = [&](std::string_view option, const std::string& why) {
        throw ConfigError(fmt::format(
            "{}: not possible with mechanism {}, {} (allowed: 0)", option, mechanism.name, why));
    };
    if (mechanism.entry != NoiseEntry::gradient) {
        if (config.momentum > 0)
            refuse("momentum", "whose noise on messages is counted for single gradients");
        if (config.final_gossip.value_or(0) > 0)
            refuse("final-gossip",
                   "whose noise on messages does not hide the models it would send");
    }
    if (config.momentum > 0 && mechanism.correlates_rounds)
        refuse("momentum", "which is planned for rounds without it");
}

SumHiding hidden_by_sums(const Topography& topography,
                         const Membership& members,
                         SumRules rules,
                         int coalition_size,
                         int further) {
    SumHiding hiding = renumbered(
        what_sums_hide(
            topography.graph, topography.schedule(), rules, std::max(1, coalition_size), further),
        members.numbers,
        members.all);
    require_hiding(hiding);
    return hiding;
}

SumRules sum_rules(const PlanConfig& config, const Topography& topography, int mask_partners) {
    if (config.gossip == GossipRule::optimal)
        throw ConfigError(
            "gossip: optimal is not possible with secure sums, of whose combinations is not known "
            "what they hide (allowed: plain, chebyshev, or --secure-sum off)");
    return {config.gossip_steps + final_gossip_steps(config, topography.schedule()), mask_partners};
}

void require_possible_push_sum(const Topography& topography, const NoisePlan& plan, double l2) {
    if (!topography.mixing.push_sum()) return;
    if (l2 != 0)
        throw ConfigError(fmt::format(
            "l2: {} is not possible with --mixing push-sum, where it would shrink every "
            "agent's model by another factor (allowed: 0, or --mixing row-stochastic)",
            l2));
    if (plan.entry != NoiseEntry::gradient)
        throw ConfigError(fmt::format(
            "mixing: push-sum is not possible with a plan of mechanism {}, whose noise is "
            "on messages (allowed: row-stochastic)",
            plan.mechanism));
}

}  // namespace sotto
