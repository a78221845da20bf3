#include "run/transport.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "run/options/train_options.hpp"
#include "sotto/net/agreement.hpp"

namespace sotto {

void verify_same_options(Network& network, const TrainConfig& config) {
    require_same_options(network, agreement_lines(config));
}

std::vector<std::string> transport_statements(const TrainConfig& config,
                                              const Network& network,
                                              const Graph& graph,
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
    if (network.processes() > 1)
        lines.push_back(fmt::format(
            "Evaluation shows the process that prints the figures every agent's model{}: train "
            "real "
            "secrets where you trust it with them.",
            optimality_gap ? ", losses and, for the optimality gap, exact gradients and curvatures"
                           : " and losses"));
    if (config.secure_sum) {
        int most = 0;
        int single = 0;
        for (int u = 0; u < graph.agents(); ++u) {
            most = std::max(most, graph.degree(u));
            single += graph.degree(u) == 1 ? 1 : 0;
        }
        std::string line =
            "Secure sums: an agent learns only the weighted sum of its neighbours' messages; the "
            "guarantee does not count on it.";
        const int partners = 2 * config.mask_partners;
        line += most - 1 <= partners
                    ? " An agent that colludes with some of its neighbours learns only the sum of "
                      "the others."
                    : fmt::format(
                          " That holds for an agent that colludes with up to {} of its "
                          "neighbours; up to {} neighbours, with any of them.",
                          partners - 1,
                          partners + 1);
        if (single > 0)
            line += fmt::format(" {} agent{} one neighbour, whose message is the sum.",
                                single,
                                single == 1 ? " has" : "s have");
        lines.push_back(std::move(line));
    }
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
