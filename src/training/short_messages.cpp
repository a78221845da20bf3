#include "training/short_messages.hpp"

#include <fmt/format.h>

#include <cmath>
#include <string>

#include "agent/message_coder.hpp"
#include "net/agreement.hpp"
#include "planning/configured_gossip.hpp"
#include "sotto/core/error.hpp"
#include "sotto/design/mechanism.hpp"

namespace sotto {

namespace {

/// What a mechanism, or a plan of it, says about messages.
struct PlannedMessages {
    std::string mechanism;
    Aggregation aggregation = Aggregation::gossip;
    bool noisy_gradients = true;  ///< noise enters gradients, and all receivers hear the same
    bool noiseless = false;
};

PlannedMessages messages_of(const NoisePlan& plan) {
    return {plan.mechanism,
            plan.aggregation,
            plan.entry == NoiseEntry::gradient && plan.same_message_to_all(),
            plan.noiseless()};
}

PlannedMessages messages_of(const Mechanism& mechanism) {
    return {mechanism.name,
            mechanism.aggregation,
            mechanism.entry == NoiseEntry::gradient,
            !mechanism.needs_budget};
}

/// Why messages cannot be rounded, or why that would gain nothing; empty if they can.
std::string obstacle_to_rounding(const TrainConfig& config,
                                 const PlannedMessages& planned,
                                 bool fixed_inputs) {
    if (config.secure_sum) return "with --secure-sum on, whose shares are integers of 64 bits";
    if (planned.aggregation == Aggregation::trusted_mean)
        return fmt::format("with mechanism {}, whose trusted aggregator adds up float64",
                           planned.mechanism);
    if (fixed_inputs)
        return "where inputs are fixed in advance: what an observer sees of messages it does not "
               "hear would not be what partial views count";
    return {};
}

/// The same for sending differences. They need the same message for all, every round.
std::string obstacle_to_differences(const TrainConfig& config,
                                    const PlannedMessages& planned,
                                    const Topography& topography) {
    if (!planned.noisy_gradients)
        return fmt::format("with mechanism {}, whose noise enters messages and not gradients",
                           planned.mechanism);
    if (!topography.schedule().fixed())
        return "with mixing that changes from round to round: what an agent keeps of its "
               "neighbours' messages holds for one matrix";
    if (config.misses_messages())
        return "with --round-deadline or --faults silent, where some of them are missing";
    if (config.robust.on())
        return "with --robust, which mixes whole messages that need not be what they say";
    if (!config.faults.lies.empty())
        return "with --faults lie, whose lies differ from what others know by any amount";
    if (config.plan.correction == Correction::tracking)
        return "with --correction tracking, whose rounds send directions and models in turn";
    // Its weights may be in the thousands, of both signs.
    if (config.plan.gossip == GossipRule::optimal)
        return "with --gossip optimal, whose weights multiply what is rounded away";
    if (config.plan.precondition_every > 0)
        return "with --precondition-every, whose exchanges of models have no predicted steps";
    try {
        require_codable(topography.mixing);
    } catch (const ConfigError& error) {
        return error.what();
    }
    return {};
}

/// A coordinate of a contribution, as part of the clip norm over sqrt(d): little beside noise.
/// Contributions are mostly longer, but coarse steps cost accuracy, and fine ones only bytes.
constexpr double part_of_clip = 0.125;

MessageSteps predicted_steps(const Run& run, Eigen::Index dimension, bool coordinates) {
    const double clip = run.config.plan.clip_norm;
    const Smoothing smoothing = configured_smoothing(run.phase, run.topography);
    const double part =
        part_of_clip * clip / (coordinates ? 1 : std::sqrt(static_cast<double>(dimension)));
    return {predicted_motion({.plan = run.plan,
                              .mixing = run.topography.mixing,
                              .gossip = configured_gossip(run.phase, run.topography.mixing),
                              .final_gossip = smoothing.final_gossip,
                              .momentum = smoothing.momentum,
                              .correction = smoothing.correction,
                              .gradient_std = part,
                              .rounds = run.phase.rounds}),
            run.config.plan.steps,
            run.config.plan.rounds};
}

MessagePrecision precision_for(const TrainConfig& config,
                               const PlannedMessages& planned,
                               const Topography& topography,
                               bool fixed_inputs) {
    if (config.precision == MessagePrecision::float64) return MessagePrecision::float64;
    const std::string rounding = obstacle_to_rounding(config, planned, fixed_inputs);
    const std::string differences =
        rounding.empty() ? obstacle_to_differences(config, planned, topography) : rounding;
    if (!config.precision) {
        if (!rounding.empty() || config.expects_lies()) return MessagePrecision::float64;
        // Without noise, nothing says how far messages move.
        return differences.empty() && !planned.noiseless ? MessagePrecision::nibble
                                                         : MessagePrecision::float32;
    }
    const bool nibble = *config.precision == MessagePrecision::nibble;
    const std::string& obstacle = nibble ? differences : rounding;
    if (obstacle.empty()) return *config.precision;
    throw ConfigError(fmt::format("precision: {} is not possible {} (allowed: {}float64)",
                                  message_precisions.name_of(*config.precision),
                                  obstacle,
                                  nibble && rounding.empty() ? "auto, float32, " : ""));
}

}  // namespace

MessagePrecision settled_precision(const TrainConfig& config,
                                   const NoisePlan& plan,
                                   const Topography& topography,
                                   bool fixed_inputs) {
    return precision_for(config, messages_of(plan), topography, fixed_inputs);
}

MessagePrecision expected_precision(const TrainConfig& config,
                                    const Topography& topography,
                                    bool fixed_inputs) {
    if (config.precision) return *config.precision;
    return precision_for(config,
                         messages_of(find_mechanism("mechanism", config.plan.mechanism)),
                         topography,
                         fixed_inputs);
}

MessagePrecision survey_precision(const TrainConfig& config) {
    return config.precision == MessagePrecision::float32 ? MessagePrecision::float32
                                                         : MessagePrecision::float64;
}

MessageSteps agree_on_message_steps(const Run& run, Eigen::Index dimension, bool coordinates) {
    constexpr std::size_t most_bytes = std::size_t{1} << 20;
    const long rounds = run.config.plan.rounds;
    std::optional<MessageSteps> steps;
    run.network.agree([&] { steps = predicted_steps(run, dimension, coordinates); });
    hear_process_0(run.network, steps->text(), most_bytes, [&](const std::string& said) {
        const MessageSteps theirs = MessageSteps::parse(said, rounds);
        if (!theirs.near(*steps))
            throw NetworkError(fmt::format(
                "rank 0 said '{}' for the steps of messages, and '{}' follows from the plan (give "
                "--precision float32 to do without)",
                said,
                steps->text()));
        steps = theirs;
    });
    return *steps;
}

}  // namespace sotto
