#include "training/rank_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sotto/core/error.hpp"
#include "sotto/core/host.hpp"

namespace sotto {

namespace {

/// Consecutive ranks on hosts without names of their own.
RankLayout consecutive(AgentBlocks agents, int hosts) {
    const int ranks = agents.processes();
    const AgentBlocks of_hosts(ranks, hosts);
    RankLayout layout{agents, {}, {}};
    for (int rank = 0; rank < ranks; ++rank) layout.host_of.push_back(of_hosts.process_of(rank));
    for (int host = 0; host < hosts; ++host) layout.hosts.push_back(fmt::format("host {}", host));
    return layout;
}

/// Ranks where they are. COLLECTIVE.
RankLayout as_placed(Network& network) {
    RankLayout layout{network.blocks(), {}, {}};
    for (std::string& name : network.all_gather(local_host_name(), most_line_bytes)) {
        const auto known = std::ranges::find(layout.hosts, name);
        layout.host_of.push_back(static_cast<int>(known - layout.hosts.begin()));
        if (known == layout.hosts.end()) layout.hosts.push_back(std::move(name));
    }
    return layout;
}

}  // namespace

RankLayout::Load RankLayout::heaviest() const {
    std::vector<Load> loads(hosts.size());
    for (int rank = 0; rank < blocks.processes(); ++rank) {
        Load& load = loads[static_cast<std::size_t>(host_of[static_cast<std::size_t>(rank)])];
        load.agents += blocks.size(rank);
        ++load.ranks;
    }
    return *std::ranges::max_element(loads, {}, &Load::agents);
}

RankLayout rank_layout(const NetworkSpec& spec, Network& network) {
    const bool alone = network.processes() == 1;
    const int ranks = spec.ranks.value_or(alone ? network.agents() : network.processes());
    const bool placed = !alone && !spec.hosts;
    const int hosts = spec.hosts.value_or(ranks);
    network.agree([&] {
        if (!alone && ranks != network.processes())
            throw ConfigError(fmt::format(
                "--network, ranks: {} is not allowed (the job has {}; start sotto alone to ask for "
                "another number)",
                ranks,
                network.processes()));
        if (ranks > network.agents())
            throw ConfigError(
                fmt::format("--network, ranks: {} is not allowed (at most one an agent, {})",
                            ranks,
                            network.agents()));
        if (hosts > ranks)
            throw ConfigError(fmt::format(
                "--network, hosts: {} is not allowed (at most one a rank, {})", hosts, ranks));
    });
    return placed ? as_placed(network) : consecutive({network.agents(), ranks}, hosts);
}

}  // namespace sotto
