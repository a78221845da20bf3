#include "net/exchange_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

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

void fold_into(Eigen::Ref<Eigen::VectorXd> total,
               const Eigen::Ref<const Eigen::VectorXd>& values,
               Fold fold) {
    if (fold == Fold::sum)
        total += values;
    else
        total = total.binaryExpr(values,
                                 [](double a, double b) { return std::isnan(b) || b > a ? b : a; });
}

void add_words(std::span<const std::uint64_t> words, std::span<std::uint64_t> sum) {
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += words[i];
}

Eigen::Index chunk_length(Eigen::Index dimension,
                          Eigen::Index largest_whole,
                          Eigen::Index largest_chunk) {
    if (dimension <= largest_whole) return dimension;
    constexpr Eigen::Index line = 8;  // values in a cache line
    const Eigen::Index chunks = (dimension + largest_chunk - 1) / largest_chunk;
    const Eigen::Index equal = (dimension + chunks - 1) / chunks;
    return std::min(largest_chunk, (equal + line - 1) / line * line);
}

Eigen::Index piece_length(Eigen::Index dimension, std::size_t most_messages) {
    constexpr Eigen::Index values_of_all = Eigen::Index{1} << 23;
    constexpr Eigen::Index smallest_piece = 64, largest_piece = 65536;
    const auto messages = std::max<Eigen::Index>(1, static_cast<Eigen::Index>(most_messages));
    const Eigen::Index piece =
        std::clamp(values_of_all / messages / 8 * 8, smallest_piece, largest_piece);
    return chunk_length(dimension, 2 * piece, piece);
}

}  // namespace sotto
