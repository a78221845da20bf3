#include "exchange_checks.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sotto {

void check_outgoing(const Outgoing& outgoing, const Outgoing& first, std::size_t receivers, int u) {
    const auto fail = [u](const std::string& what) {
        throw Error(ExitCode::other, fmt::format("message of agent {}: {}", u, what));
    };
    const bool to_all = outgoing.to_all != nullptr;
    if (to_all != outgoing.per_receiver.empty())
        fail("give either one vector for all or one per receiver");
    if (to_all != (first.to_all != nullptr))
        fail("all messages of an exchange must be of one kind (to all, or per receiver)");
    if (outgoing.to.size() != outgoing.from.size() || outgoing.to.empty() != first.to.empty() ||
        (!outgoing.to.empty() && outgoing.to.size() != receivers))
        fail(
            "who gets it and whom the agent hears must be said for the whole closed neighbourhood");
    if (to_all) return;
    if (outgoing.per_receiver.size() != receivers)
        fail(fmt::format("{} vectors for a closed neighbourhood of {}",
                         outgoing.per_receiver.size(),
                         receivers));
    if (std::ranges::find(outgoing.per_receiver, nullptr) != outgoing.per_receiver.end())
        fail("the vector for a receiver is missing");
}

void check_connect(const Graph& graph, int agents, bool connected) {
    if (connected) throw Error(ExitCode::other, "the network is already connected along a graph");
    if (graph.agents() != agents)
        throw ConfigError(
            fmt::format("the graph has {} agents and the network {}; they must be equal",
                        graph.agents(),
                        agents));
}

void check_exchange(bool connected,
                    std::size_t messages,
                    std::size_t agents,
                    Eigen::Index dimension) {
    if (!connected) throw Error(ExitCode::other, "exchange before the network is connected");
    if (messages != agents)
        throw Error(ExitCode::other,
                    fmt::format("{} messages for {} agents of this process", messages, agents));
    if (!(dimension > 0))
        throw Error(ExitCode::other, fmt::format("exchange of {} values; must be > 0", dimension));
}

}  // namespace sotto
