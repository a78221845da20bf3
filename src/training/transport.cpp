#include "training/transport.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "options/train_options.hpp"
#include "sotto/net/agreement.hpp"
#include "sotto/plan/noise_grid.hpp"

namespace sotto {

namespace {

std::string statement_on_shared_memory(const AgentBlocks& blocks) {
    return fmt::format(
        "{} agents run on {} ranks, consecutive ones on each, up to {} on one: agents of one rank "
        "share its memory. Whoever controls a rank sees the data, seeds and messages of its "
        "agents: to everybody else it is a coalition of them, so the figures for single observers "
        "do not bound what it learns.",
        blocks.agents(),
        blocks.processes(),
        blocks.most());
}

std::string statement_on_precision(MessagePrecision precision, const NoisePlan& plan) {
    const double part = unit_roundoff(precision);
    const double deviation = largest_deviation(plan);
    return fmt::format(
        "Messages are rounded to {} after their noise, each value by at most {:.2g} of itself: "
        "what is sent is a function of what is counted, and no figure changes. Of noise that "
        "would cancel, whose standard deviation is up to {:.3g} a coordinate, about {:.2g} may "
        "stay.",
        message_precisions.name_of(precision),
        part,
        deviation,
        part * deviation);
}

}  // namespace

void verify_same_options(Network& network, const TrainConfig& config) {
    require_same_options(network, agreement_lines(config));
}

std::vector<std::string> transport_statements(const TrainConfig& config,
                                              const Network& network,
                                              const NoisePlan& plan,
                                              bool optimality_gap) {
    std::vector<std::string> lines;
    const bool trusted = plan.aggregation == Aggregation::trusted_mean;
    if (network.processes() == 1)
        lines.emplace_back("All agents run in one process, which sees everything.");
    else if (trusted)
        lines.push_back(fmt::format(
            "The trusted aggregator sees every agent's message without noise: {} is a reference "
            "only.",
            plan.mechanism));
    else if (config.link_encryption)
        lines.emplace_back(
            "Messages between agents are encrypted and authenticated, each edge with keys of its "
            "own, and so is what evaluation collects; the guarantee does not count on it.");
    else
        lines.emplace_back("Messages between agents are not encrypted (--link-encryption off).");
    if (config.precision != MessagePrecision::float64)
        lines.push_back(statement_on_precision(config.precision, plan));
    if (network.processes() > 1 && !network.blocks().one_each())
        lines.push_back(statement_on_shared_memory(network.blocks()));
    if (network.processes() > 1)
        lines.push_back(fmt::format(
            "Evaluation shows the process that prints the figures every agent's model, losses, "
            "numbers of test records by class and part of its gradients that the clip shortened{}: "
            "train real secrets where you trust it with them.",
            optimality_gap ? ", and, for the optimality gap, exact gradients and curvatures" : ""));
    if (network.processes() > 1 && config.secure_sum)
        lines.emplace_back(
            "What secure sums hide is counted without evaluation: who has all models of a round "
            "can solve for all its messages.");
    if (!config.record_views.empty())
        lines.push_back(fmt::format(
            "The views of agents {} are recorded in the run directory, with their un-noised "
            "gradients and their seeds: whoever reads them is not bound by this ledger.",
            fmt::join(config.record_views, ", ")));
    if (config.record_wire)
        lines.push_back(fmt::format(
            "{} of all agents are recorded in the run directory as receivers decrypt them: whoever "
            "reads them is an eavesdropper of unencrypted links.",
            config.secure_sum ? "The masked shares" : "The messages"));
    return lines;
}

}  // namespace sotto
