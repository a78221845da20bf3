#include "views/process_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "sotto/core/error.hpp"
#include "sotto/core/names.hpp"
#include "views/view_rounds.hpp"

namespace sotto {

namespace {

std::string name_of(View::Kind kind) {
    switch (kind) {
        case View::Kind::all_messages:
            return "all messages";
        case View::Kind::neighbours:
            return "neighbours";
        case View::Kind::secure_sum:
            return "secure sum";
    }
    return "unknown";
}

void require_agents(const char* what, const std::vector<int>& list, int agents) {
    for (std::size_t i = 0; i < list.size(); ++i) {
        if (list[i] < 0 || list[i] >= agents)
            throw ConfigError(fmt::format(
                "{}: agent {} does not exist (allowed: 0 to {})", what, list[i], agents - 1));
        if (i > 0 && list[i - 1] >= list[i])
            throw ConfigError(
                fmt::format("{}: agents must be listed once, in ascending order", what));
    }
}

/// Checks that present and absent agents give each other no weight.
void check_departed(const Phase& phase, const MixingMatrix& mixing) {
    const auto gone = [&](int u) { return phase.has_departed(u); };
    for (int u = 0; u < mixing.agents(); ++u) {
        const auto members = mixing.members(u);
        const auto weights = mixing.weights(u);
        for (std::size_t j = 0; j < members.size(); ++j)
            if (weights[j] != 0 && members[j] != u && (gone(u) || gone(members[j])))
                throw ConfigError(
                    fmt::format("phases: agent {} has departed, but agent {} weighs its message "
                                "by {} (give it weight 1 on itself only)",
                                gone(members[j]) ? members[j] : u,
                                gone(members[j]) ? u : members[j],
                                weights[j]));
    }
}

void check_plan(const MessageProcess& process, const Phase& phase) {
    const NoisePlan& plan = process.plan_of(phase);
    if (plan.agents != process.plan->agents)
        throw ConfigError(fmt::format("phases: a plan is for {} agents, that of the process for {}",
                                      plan.agents,
                                      process.plan->agents));
    for (const auto& stream : plan.streams)
        if (stream.distribution != StreamDistribution::gaussian)
            throw PrivacyError("noise plan: no bound is known here for noise that is not Gaussian");
    if (plan.entry != process.plan->entry || plan.aggregation != process.plan->aggregation ||
        plan.same_message_to_all() != process.plan->same_message_to_all())
        throw PrivacyError(
            "phases: no bound is known here for plans that differ in where noise enters, in who "
            "combines messages, or in whether all receivers get the same message");
    if (plan.aggregation != Aggregation::trusted_mean) return;
    if (!plan.same_message_to_all())
        throw PrivacyError(
            "noise plan: no bound is known here for a trusted mean with noise that depends on the "
            "receiver");
    if (lacks_noise(plan, phase))
        throw PrivacyError(
            "phases: no bound is known here for a trusted mean that an agent with noise has left");
}

void check_phase(const MessageProcess& process, const Phase& phase) {
    const int agents = process.plan->agents;
    if (phase.rounds < 1)
        throw ConfigError(
            fmt::format("phases: {} rounds are not allowed (1 or more)", phase.rounds));
    if (phase.mixing.agents() != agents)
        throw ConfigError(fmt::format(
            "phases: mixing of {} agents, the plan is for {}", phase.mixing.agents(), agents));
    require_agents("departed", phase.departed, agents);
    check_plan(process, phase);
    if (phase.departed.empty()) return;
    std::set<const MixingMatrix*> checked;
    for (long round = 0; round < phase.rounds; ++round)
        if (checked.insert(&phase.mixing.at(round)).second)
            check_departed(phase, phase.mixing.at(round));
}

bool never_there(const MessageProcess& process, int agent) {
    return std::ranges::all_of(process.phases,
                               [&](const Phase& phase) { return phase.has_departed(agent); });
}

}  // namespace

bool lacks_noise(const NoisePlan& plan, const Phase& phase) {
    return std::ranges::any_of(plan.rows, [&](const NoiseRow& row) {
        return !row.streams.empty() && phase.has_departed(row.sender);
    });
}

void check_smoothing(const MessageProcess& process) {
    const int steps = process.gossip.steps();
    if (steps < 1)
        throw ConfigError(fmt::format("gossip-steps: {} is not allowed (1 or more)", steps));
    bool plain = process.gossip.plain();
    for (const Phase& phase : process.phases) {
        if (process.gossip_of(phase).steps() != steps)
            throw ConfigError(
                fmt::format("phases: {} gossip steps are not allowed ({}, as in the process)",
                            process.gossip_of(phase).steps(),
                            steps));
        plain = plain && process.gossip_of(phase).plain();
    }
    if (!(process.momentum >= 0 && process.momentum < 1))
        throw ConfigError(
            fmt::format("momentum: {} is not allowed (0 or more, below 1)", process.momentum));
    if (process.final_gossip < 0)
        throw ConfigError(
            fmt::format("final-gossip: {} is not allowed (0 or more)", process.final_gossip));
    const NoisePlan& plan = *process.plan;
    if (process.momentum != 0 && plan.entry == NoiseEntry::message)
        throw PrivacyError(
            fmt::format("momentum: {} is not possible with mechanism {}, whose noise is on "
                        "messages and does not cover what piles up (allowed: 0)",
                        process.momentum,
                        plan.mechanism));
    if (process.correction != Correction::none &&
        (plan.entry == NoiseEntry::message || !plan.same_message_to_all()))
        throw PrivacyError(
            fmt::format("correction: {} is not possible with mechanism {}, whose noise is on "
                        "messages and is counted for messages without it (allowed: none)",
                        name_of(process.correction),
                        plan.mechanism));
    if (plan.same_message_to_all()) return;
    const auto refuse = [&](const char* name, const std::string& value, const char* allowed) {
        throw PrivacyError(
            fmt::format("{}: {} is not possible with mechanism {}, which gives every receiver a "
                        "message of its own (allowed: {})",
                        name,
                        value,
                        plan.mechanism,
                        allowed));
    };
    if (!plain) refuse("gossip", process.gossip.combines() ? "optimal" : "chebyshev", "plain");
    if (process.momentum != 0) refuse("momentum", fmt::format("{}", process.momentum), "0");
    if (process.final_gossip != 0)
        refuse("final-gossip", std::to_string(process.final_gossip), "0");
}

void check_process(const MessageProcess& process) {
    if (process.graph == nullptr || process.plan == nullptr)
        throw ConfigError("message process: graph and plan must be given");
    const int agents = process.plan->agents;
    if (process.graph->agents() != agents)
        throw ConfigError(fmt::format(
            "the plan is for {} agents, the graph has {}", agents, process.graph->agents()));
    if (process.phases.empty()) throw ConfigError("phases: at least one is needed");
    check_smoothing(process);
    for (const Phase& phase : process.phases) check_phase(process, phase);
    const long rounds = process.rounds();
    if (!process.step_sizes.empty() && static_cast<long>(process.step_sizes.size()) != rounds)
        throw ConfigError(fmt::format(
            "step sizes: {} are given, the run has {} rounds", process.step_sizes.size(), rounds));
    for (const double step : process.step_sizes)
        if (!(step > 0 && std::isfinite(step)))
            throw ConfigError(
                fmt::format("step sizes: {} is not allowed (must be finite and above 0)", step));
    for (const NoiseStretch& stretch : process_rounds(process).stretches)
        if (stretch.plan->temporal.kind != TemporalFactor::Kind::identity &&
            stretch.plan->temporal.lower.rows() < stretch.rounds)
            throw PrivacyError(
                fmt::format("the plan's temporal factor covers {} rounds, the run has {}",
                            stretch.plan->temporal.lower.rows(),
                            stretch.rounds));
}

void check_view(const MessageProcess& process, const View& view, std::span<const int> targets) {
    const int agents = process.plan->agents;
    require_agents("view", view.members, agents);
    if (view.members.empty() && view.kind != View::Kind::all_messages)
        throw ConfigError(fmt::format("view: {} needs at least one member", name_of(view.kind)));
    for (const int a : view.members)
        if (never_there(process, a))
            throw ConfigError(fmt::format("view: agent {} has departed in every phase", a));
    for (const int u : targets) {
        if (u < 0 || u >= agents)
            throw ConfigError(
                fmt::format("target: agent {} does not exist (allowed: 0 to {})", u, agents - 1));
        if (never_there(process, u))
            throw ConfigError(fmt::format("target: agent {} has departed in every phase", u));
    }
}

std::vector<double> process_steps(const NoisePlan& plan,
                                  const StepSchedule& steps,
                                  double l2,
                                  long rounds) {
    require_in_range("l2", l2, 0, 1e6);
    if (plan.distribution() == StreamDistribution::laplace) return {};
    if (l2 == 0) {
        if (steps.kind == StepSchedule::Kind::constant && plan.entry == NoiseEntry::gradient)
            return {};
        return steps.over(rounds);
    }
    if (plan.entry != NoiseEntry::gradient)
        throw ConfigError(fmt::format(
            "l2: {} is not possible in a partial view of mechanism {}, whose noise is on messages "
            "(allowed: 0)",
            l2,
            plan.mechanism));
    std::vector<double> result = steps.over(rounds);
    constexpr double least = 1e-6;  // below, the filter would lose older rounds to rounding
    double left = 1;
    for (std::size_t t = 0; t < result.size(); ++t) {
        const double step = result[t];
        if (t > 0) left *= 1 - step * l2;
        if (!(left >= least))
            throw ConfigError(fmt::format(
                "l2: {} with step size {} leaves less than {} of a message by round {}, which "
                "partial views do not account for",
                l2,
                step,
                least,
                t));
        result[t] = step / left;
    }
    const auto [smallest, largest] = std::ranges::minmax(result);
    if (largest - smallest <= 1e-15 * static_cast<double>(rounds + 1) * largest) return {};
    return result;
}

}  // namespace sotto
