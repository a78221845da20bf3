#include "sotto/net/exchange_time.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "chunk_length.hpp"
#include "sotto/trust/link_cipher.hpp"

namespace sotto {

namespace {

constexpr double message_header = 64;
constexpr double segment = 1448, segment_headers = 66;
constexpr double eager_limit = 65536;

/// Messages from one process to another.
using Messages = std::map<std::pair<int, int>, std::size_t>;

struct CountedMessages {
    Messages between;            // processes of different hosts
    std::size_t most_links = 0;  // edges of any process to others
};

CountedMessages count_messages(const Graph& graph,
                               const AgentBlocks& blocks,
                               std::span<const int> host_of,
                               bool per_receiver) {
    CountedMessages counted;
    std::vector<std::size_t> links(static_cast<std::size_t>(blocks.processes()));
    for (int u = 0; u < graph.agents(); ++u) {
        const int from = blocks.process_of(u);
        std::set<int> reached;
        for (const int v : graph.hearers(u)) {
            const int to = blocks.process_of(v);
            if (to == from) continue;
            ++links[static_cast<std::size_t>(from)];
            const bool crosses =
                host_of[static_cast<std::size_t>(from)] != host_of[static_cast<std::size_t>(to)];
            if (crosses && (reached.insert(to).second || per_receiver))
                ++counted.between[{from, to}];
        }
    }
    counted.most_links = std::ranges::max(links);
    return counted;
}

}  // namespace

ExchangeTime predict_exchange(const HostNetwork& network,
                              const Graph& graph,
                              const AgentBlocks& blocks,
                              std::span<const int> host_of,
                              const MessageFormat& format) {
    const CountedMessages counted = count_messages(graph, blocks, host_of, format.per_receiver);
    const Eigen::Index longest = piece_length(format.dimension, counted.most_links);
    const auto pieces = static_cast<double>((format.dimension + longest - 1) / longest);
    const double beside =
        message_header + (format.encrypted ? static_cast<double>(LinkCipher::tag_size) : 0);
    const auto values = [&](std::size_t messages, Eigen::Index count) {
        return static_cast<double>(messages * static_cast<std::size_t>(count) *
                                   value_size(format.precision));
    };
    const auto hosts = static_cast<std::size_t>(std::ranges::max(host_of)) + 1;
    std::vector<double> out(hosts), in(hosts);
    double largest = 0;
    for (const auto& [ends, messages] : counted.between) {
        const double payload = values(messages, format.dimension) + pieces * beside;
        const double bytes = payload + std::ceil(payload / segment) * segment_headers;
        out[static_cast<std::size_t>(host_of[static_cast<std::size_t>(ends.first)])] += bytes;
        in[static_cast<std::size_t>(host_of[static_cast<std::size_t>(ends.second)])] += bytes;
        largest = std::max(largest, values(messages, longest) + beside);
    }
    ExchangeTime time;
    if (counted.between.empty()) return time;
    for (std::size_t h = 0; h < hosts; ++h)
        if (const double bytes = std::max(out[h], in[h]); bytes > time.busiest_bytes) {
            time.busiest_bytes = bytes;
            time.busiest_host = static_cast<int>(h);
        }
    time.latency_seconds = pieces * (largest > eager_limit ? 3 : 1) * network.latency_seconds;
    time.transfer_seconds = time.busiest_bytes * 8 / network.bits_per_second;
    return time;
}

}  // namespace sotto
