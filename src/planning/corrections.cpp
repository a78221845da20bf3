#include "planning/corrections.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sotto/core/error.hpp"
#include "sotto/design/mechanism.hpp"

namespace sotto {

namespace {

/// Why an option cannot be combined with what is given; empty if it can.
struct Obstacle {
    std::string with, allowed;
    [[nodiscard]] bool none() const { return with.empty(); }
};

[[noreturn]] void refuse_correction(Correction correction, const Obstacle& obstacle) {
    throw ConfigError(fmt::format("correction: {} is not possible {} (allowed: {})",
                                  name_of(correction),
                                  obstacle.with,
                                  obstacle.allowed));
}

Obstacle obstacle_of_noise(std::string_view mechanism,
                           Aggregation aggregation,
                           NoiseEntry entry,
                           bool correlates_rounds) {
    const char* why = nullptr;
    if (aggregation == Aggregation::trusted_mean)
        why = "whose agents all have the aggregator's model";
    else if (entry != NoiseEntry::gradient)
        why = "whose noise on messages is counted for messages without it";
    else if (correlates_rounds)
        why = "which is planned for rounds without it";
    if (why == nullptr) return {};
    return {fmt::format("with mechanism {}, {}", mechanism, why), "none"};
}

bool all_are(const Topography& topography, bool (MixingMatrix::*property)() const) {
    return (topography.mixing.*property)() &&
           std::ranges::all_of(topography.later_mixing, property);
}

Obstacle obstacle_of_mixing(Correction correction, const Topography& topography) {
    constexpr const char* symmetric_rules =
        "none, or --mixing metropolis, max-degree, lazy-metropolis";
    if (topography.graph.directed() || !all_are(topography, &MixingMatrix::doubly_stochastic))
        return {
            "with directed graphs and mixing matrices whose columns do not sum to 1, with "
            "which corrections of all agents do not add up to zero",
            symmetric_rules};
    if (correction == Correction::tracking) return {};
    if (!topography.later_mixing.empty())
        return {"with a --mixing-schedule, with which it may diverge", "none, tracking"};
    if (!topography.mixing.symmetric())
        return {"with mixing matrices that are not symmetric, with which it may diverge",
                symmetric_rules};
    return {};
}

Obstacle obstacle_to(Correction correction,
                     const PlanConfig& config,
                     const Topography& topography) {
    const Mechanism& mechanism = find_mechanism("mechanism", config.mechanism);
    const Obstacle of_noise = obstacle_of_noise(
        mechanism.name, mechanism.aggregation, mechanism.entry, mechanism.correlates_rounds);
    return of_noise.none() ? obstacle_of_mixing(correction, topography) : of_noise;
}

}  // namespace

Correction chosen_correction(const PlanConfig& config,
                             const Topography& topography,
                             bool secure_sum,
                             bool designed_mixing) {
    if (secure_sum || designed_mixing || config.plan_file) return Correction::none;
    for (const Correction correction : {Correction::exact_diffusion, Correction::tracking})
        if (obstacle_to(correction, config, topography).none()) return correction;
    return Correction::none;
}

void require_possible_correction(const PlanConfig& config, const Topography& topography) {
    if (config.correction == Correction::none) return;
    const Obstacle obstacle = obstacle_to(config.correction, config, topography);
    if (!obstacle.none()) refuse_correction(config.correction, obstacle);
}

void require_possible_correction(const PlanConfig& config, const NoisePlan& plan) {
    if (config.correction == Correction::none) return;
    const Obstacle obstacle =
        obstacle_of_noise(plan.mechanism,
                          plan.aggregation,
                          plan.entry,
                          plan.temporal.kind != TemporalFactor::Kind::identity);
    if (!obstacle.none()) refuse_correction(config.correction, obstacle);
}

std::vector<std::string> correction_statements(const PlanConfig& config) {
    if (config.correction == Correction::none) return {};
    return {fmt::format(
        "messages have the correction {}, made of earlier messages and of the agent's own noisy "
        "gradients. They tell nothing new to whoever sees all messages; figures of partial views "
        "are those of all messages",
        name_of(config.correction))};
}

void require_correction_beside_sums(const PlanConfig& config, bool secure_sum) {
    if (secure_sum && config.correction != Correction::none)
        refuse_correction(config.correction,
                          {"with --secure-sum on, of which nobody has shown what sums of corrected "
                           "messages hide",
                           "none, or --secure-sum off"});
}

void require_correction_beside_mixing(const PlanConfig& config, bool designed_mixing) {
    if (designed_mixing && config.correction != Correction::none)
        refuse_correction(config.correction,
                          {"with --mixing optimised, whose weights are chosen for noise that "
                           "spreads without it",
                           "none, or another --mixing"});
}

}  // namespace sotto
