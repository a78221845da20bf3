#include "training/round_deadline.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "core/files.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/names.hpp"
#include "sotto/plan/noise_plan.hpp"

namespace sotto {

void require_possible_misses(const Run& run) {
    const TrainConfig& config = run.config;
    const PlanConfig& plan = run.phase;
    if (config.max_lag > 0 && !config.round_deadline)
        throw ConfigError(fmt::format(
            "max-lag: {} has no meaning without --round-deadline, where all wait for all (allowed: "
            "0, or give --round-deadline)",
            config.max_lag));
    if (!config.misses_messages()) return;
    const auto refuse = [&](bool cannot, std::string_view reason) {
        if (cannot)
            throw ConfigError(fmt::format("{}: not possible {} (leave it out)",
                                          config.round_deadline ? "round-deadline" : "faults",
                                          reason));
    };
    const bool one_each = run.network.processes() == run.plan.agents;
    refuse(config.round_deadline && run.network.processes() == 1,
           "in one process, whose agents wait for nobody; use mpirun");
    refuse(config.round_deadline && !config.faults.none() && !one_each,
           "with --faults unless every agent has a process of its own");
    refuse(config.secure_sum, "with --secure-sum on, whose masks cancel only if all messages come");
    refuse(run.plan.aggregation != Aggregation::gossip,
           "with a trusted aggregator, which waits for all");
    refuse(run.plan.entry != NoiseEntry::gradient || !run.plan.same_message_to_all(),
           "with noise on messages, whose guarantee is that of a fixed mixing matrix");
    refuse(run.plan.temporal.kind != TemporalFactor::Kind::identity,
           "with noise that depends on earlier rounds, some of which may be missed, or that a "
           "--noise-schedule changes from round to round; give --temporal banded:0 or "
           "--noise-schedule constant, or another mechanism");
    refuse(!run.topography.schedule().fixed() || run.topography.mixing.push_sum(),
           "where mixing changes from round to round, or is not symmetric");
    refuse(plan.correction != Correction::none, "with --correction, which needs all messages");
    refuse(config.round_deadline && (plan.momentum > 0 || plan.gossip_steps > 1),
           "with --momentum, or several exchanges a round (--gossip-steps)");
    refuse(config.round_deadline && !run.topography.mixing.symmetric(),
           "with mixing weights that are not symmetric");
    refuse(plan.precondition_every > 0, "with --precondition-every, which needs all messages");
    refuse(plan.participation.cycle > 1,
           "with cyclic participation, since an agent that is behind would leave its part of the "
           "cycle");
    require_recordable(config, config.round_deadline ? "round-deadline" : "faults");
}

void require_recordable(const TrainConfig& config, std::string_view option) {
    if (!config.views.empty())
        throw ConfigError(fmt::format(
            "{}: not possible with --view, whose figures are those of a fixed mixing matrix (leave "
            "it out)",
            option));
    if (!config.record_views.empty() && !config.record_wire)
        throw ConfigError(
            fmt::format("{}: not possible with --record-view {}, since no fixed matrix mixes "
                        "messages (allowed: "
                        "--record-view eavesdropper, with agents whose seeds are recorded too)",
                        option,
                        fmt::join(config.record_views, ",")));
}

double deadline_for(std::vector<double> arrivals) {
    constexpr double share = 0.85, times = 1.2;
    const auto place =
        arrivals.begin() + static_cast<long>(share * static_cast<double>(arrivals.size() - 1));
    std::ranges::nth_element(arrivals, place);
    return times * *place;
}

std::optional<double> agree_on_deadline(const Run& run, const std::vector<double>& arrivals) {
    const AgentBlocks& blocks = run.network.blocks();
    const std::vector<std::string> said = run.network.all_gather(
        fmt::format("{:.6g}", fmt::join(arrivals, ",")), most_document_bytes);
    std::vector<double> all;
    for (int process = 0; process < blocks.processes(); ++process) {
        std::size_t most = 0;
        for (int agent = blocks.first(process);
             agent < blocks.first(process) + blocks.size(process);
             ++agent)
            most += measured_rounds * run.topography.graph.heard(agent).size();
        for (const std::string_view one : split(said[static_cast<std::size_t>(process)], ',')) {
            if (one.empty() || most-- == 0) break;
            all.push_back(parse_real("seconds until a message was there", one));
        }
    }
    if (all.empty()) return std::nullopt;
    return deadline_for(std::move(all));
}

}  // namespace sotto
