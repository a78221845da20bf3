#include "planning/settle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "core/numbers.hpp"
#include "planning/configured_gossip.hpp"
#include "planning/corrections.hpp"
#include "planning/noise_schedule.hpp"
#include "planning/tuning.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/names.hpp"

namespace sotto {

namespace {

/// Decides alone, or together with other processes.
class Decider {
  public:
    Decider(Control* network, bool solves) : network_(network), solves_(solves) {}

    /// The choice as text; empty if nothing is open.
    [[nodiscard]] std::string decide(const OpenChoice& choice,
                                     bool open,
                                     const std::function<std::string()>& choose) const {
        std::string own;
        together([&] {
            if (open && solves_) own = choose();
        });
        return network_ != nullptr ? agree_on_choice(*network_, choice, open, own) : own;
    }
    /// Process 0's text with at most this many bytes; alone, the own one.
    [[nodiscard]] std::string from_leader(const std::string& own, std::size_t most_bytes) const {
        return network_ != nullptr ? network_->broadcast(own, most_bytes) : own;
    }
    /// Runs work; an error in one process is thrown in all.
    void together(const std::function<void()>& work) const {
        network_ != nullptr ? network_->agree(work) : work();
    }

  private:
    Control* network_;
    bool solves_;
};

void settle_final_gossip(AskedPlan& plan, const PlanInputs& inputs, const Decider& decider) {
    constexpr std::string_view none = "0", some = "auto";
    if (!plan.open.final_gossip) return;
    const std::string said =
        decider.from_leader(std::string(inputs.rounds_alone ? none : some), some.size());
    decider.together([&] {
        if (said != none && said != some)
            throw NetworkError(
                fmt::format("rank 0 chose '{}' for --final-gossip (allowed: 0, auto)", said));
    });
    plan.open.final_gossip = false;
    plan.final_gossip.reset();
    if (said == none || inputs.secure_sum) plan.final_gossip = 0;
}

std::string text_to_send(const GossipChoice& choice) {
    return fmt::format("{} {} {}",
                       choice.chosen,
                       name_of(choice.gossip),
                       message_precisions.name_of(choice.precision));
}

/// Inverse of text_to_send. @throws NetworkError, ConfigError.
GossipChoice gossip_choice_from(const std::string& said) {
    const std::vector<std::string_view> words = split(said, ' ');
    if (words.size() != 3)
        throw NetworkError(fmt::format(
            "rank 0 chose '{}' for exchanges (allowed: K, weights and a precision)", said));
    constexpr int most_given = 1000;  // as --gossip-steps
    GossipChoice choice;
    choice.chosen = static_cast<int>(parse_integer("gossip-steps", words[0]));
    require_in_range("gossip-steps", choice.chosen, 1, most_given);
    choice.gossip = parse_gossip_rule("gossip", words[1]);
    choice.precision = message_precisions.parse("precision", words[2]);
    return choice;
}

void settle_correction(AskedPlan& plan, const PlanInputs& inputs, const Decider& decider) {
    decider.together([&] {
        if (plan.open.correction)
            plan.correction = chosen_correction(
                plan, inputs.topography, inputs.secure_sum, inputs.designed_mixing);
        require_correction_beside_sums(plan, inputs.secure_sum);
        require_correction_beside_mixing(plan, inputs.designed_mixing);
    });
    plan.open.correction = false;
}

ShapeChoice settle_temporal(AskedPlan& plan, const PlanInputs& inputs, const Decider& decider) {
    ShapeChoice choice;
    const std::string said = decider.decide(
        {"the shape", "--temporal auto", "which with --temporal"}, leaves_shape_open(plan), [&] {
            choice = choose_temporal(plan, inputs.topography, inputs.records, inputs.dimension);
            return temporal_text(choice.candidates.empty() ? plan.temporal : choice.best());
        });
    decider.together([&] {
        if (said.empty()) return;
        const long restart = plan.temporal.restart;
        plan.temporal = parse_temporal("temporal", said);
        plan.temporal.restart = restart;
    });
    plan.open.temporal = false;
    return choice;
}

CycleChoice settle_cycle(AskedPlan& plan, const PlanInputs& inputs, const Decider& decider) {
    CycleChoice choice;
    const std::string said = decider.decide(
        {"b (and its band)", "--participation cyclic-poisson:auto", "cyclic-poisson:b"},
        plan.open.cycle,
        [&] {
            choice = choose_cycle(plan, inputs.topography, inputs.records);
            return fmt::format("{} {}", choice.best().cycle, choice.best().band);
        });
    decider.together([&] {
        if (said.empty()) return;
        const std::vector<std::string_view> numbers = split(said, ' ');
        if (numbers.size() != 2)
            throw NetworkError(fmt::format(
                "rank 0 chose '{}' for --participation cyclic-poisson:auto (allowed: b and a band)",
                said));
        CycleCandidate taken;
        taken.cycle = static_cast<long>(parse_integer("participation", numbers[0]));
        taken.band = static_cast<long>(parse_integer("temporal", numbers[1]));
        require_in_range("participation", static_cast<double>(taken.cycle), 1, 1e9);
        require_in_range("temporal", static_cast<double>(taken.band), 0, 1e6);
        static_cast<PlanConfig&>(plan) = with_cycle(plan, taken);
    });
    plan.open.cycle = false;
    return choice;
}

/// K and, as far as they are open, weights and precision, as process 0 says them.
GossipChoice settle_gossip(AskedPlan& plan,
                           const PlanInputs& inputs,
                           OpenExchanges open,
                           const Decider& decider) {
    GossipChoice choice;
    choice.precision = inputs.precision;
    decider.together([&] { require_possible_smoothing(plan, inputs.topography); });
    const std::string said = decider.decide(
        {"exchanges (K, weights and format of messages)",
         "--gossip-steps auto",
         "--gossip-steps K, --gossip and --precision"},
        open.steps || open.gossip || open.precision,
        [&] {
            PlanConfig left = plan;
            if (left.max_bytes) *left.max_bytes -= inputs.bytes_before;
            choice = choose_exchanges(
                left, inputs.topography, inputs.records, inputs.dimension, inputs.precision, open);
            return text_to_send(choice);
        });
    decider.together([&] {
        if (said.empty()) return;
        const GossipChoice heard = gossip_choice_from(said);
        if (!(open.steps || heard.chosen == plan.gossip_steps) ||
            !(open.gossip || heard.gossip == plan.gossip) ||
            !(open.precision || heard.precision == inputs.precision))
            throw NetworkError(fmt::format(
                "rank 0 chose exchanges '{}', but not all of them are left to it; start "
                "all ranks with the same options",
                said));
        plan.gossip_steps = heard.chosen;
        plan.gossip = heard.gossip;
        choice.precision = heard.precision;
        require_possible_smoothing(plan, inputs.topography);
    });
    plan.open.gossip_steps = false;
    return choice;
}

void settle_noise_schedule(AskedPlan& plan, double l2, const Decider& decider) {
    decider.together([&] {
        if (plan.noise_schedule == automatic_noise && plan.open.step_size && l2 != 0)
            throw ConfigError(fmt::format(
                "noise-schedule: auto is not possible with --l2 {} and a step size that "
                "is still to be measured, on which it depends (allowed: constant, or a "
                "number for --step-size)",
                l2));
        plan.round_noise = round_noise_of(plan, l2);
    });
}

Settlement settled_by(const Decider& decider, AskedPlan plan, const PlanInputs& inputs) {
    PlanChoices choices;
    settle_correction(plan, inputs, decider);
    settle_final_gossip(plan, inputs, decider);
    choices.temporal = settle_temporal(plan, inputs, decider);
    choices.cycle = settle_cycle(plan, inputs, decider);
    // A chosen cycle has its own band.
    if (!choices.cycle.candidates.empty()) choices.temporal = {};
    choices.gossip = settle_gossip(plan, inputs, {.steps = plan.open.gossip_steps}, decider);
    settle_noise_schedule(plan, inputs.l2, decider);
    return {SettledPlan(static_cast<const PlanConfig&>(plan)), std::move(choices)};
}

}  // namespace

void require_given_values(const AskedPlan& asked) {
    if (asked.open.tuned() || asked.tune.value_or(false))
        throw ConfigError(
            "tune: auto is not possible here, without a training that measures the data (allowed: "
            "off, and numbers for --rounds, --batch-size, --clip-norm and --step-size; `sotto "
            "train` chooses them)");
}

Settlement settle(const AskedPlan& asked, const PlanInputs& inputs) {
    require_given_values(asked);
    return settled_by({nullptr, true}, asked, inputs);
}

GossipChoice settle_exchanges(
    AskedPlan& plan, const PlanInputs& inputs, bool precision_open, Control& network, bool solves) {
    const Decider decider(&network, solves);
    settle_correction(plan, inputs, decider);
    const bool usual = mixes_hidden_models(plan) && !inputs.designed_mixing;
    plan.open.gossip_steps = plan.open.gossip_steps || (plan.open.usual_gossip_steps && usual);
    const OpenExchanges open{.steps = plan.open.gossip_steps && !plan.max_bytes,
                             .gossip = plan.open.usual_gossip && usual && !plan.max_bytes,
                             .precision = precision_open};
    AskedPlan compared = with_all_records(plan);
    GossipChoice choice = settle_gossip(compared, inputs, open, decider);
    plan.gossip = compared.gossip;
    plan.gossip_steps = compared.gossip_steps;
    if (open.steps) plan.open.gossip_steps = false;
    if (choice.precision == MessagePrecision::nibble)
        plan.variance_cap = std::min(plan.variance_cap, variance_cap_of_nibbles);
    return choice;
}

Settlement settle(const AskedPlan& asked, const PlanInputs& inputs, Control& network, bool solves) {
    return settled_by({&network, solves}, asked, inputs);
}

std::string agree_on_choice(Control& network,
                            const OpenChoice& choice,
                            bool open,
                            const std::string& own) {
    constexpr std::size_t most_bytes = 64;
    const std::string said =
        network.broadcast(network.process() == 0 ? own : std::string(), most_bytes);
    network.agree([&] {
        if (!open) return;
        if (said.empty())
            throw NetworkError(
                fmt::format("rank {} leaves {} of {} to rank 0, which chose none; rank 0 must be "
                            "started with the same options",
                            network.process(),
                            choice.what,
                            choice.option));
        if (!own.empty() && own != said)
            throw NetworkError(
                fmt::format("rank {} chose {} = {} for {}, rank 0 {}; start all ranks with the "
                            "same options and files, or give {}",
                            network.process(),
                            choice.what,
                            own,
                            choice.option,
                            said,
                            choice.instead));
    });
    return open ? said : std::string();
}

}  // namespace sotto
