#include "commands/doctor/exchange_check.hpp"

#include <fmt/format.h>

#include <atomic>
#include <chrono>

#include "commands/doctor/mpi_settings.hpp"
#include "sotto/core/stopwatch.hpp"

namespace sotto {

namespace {

constexpr int most_ranks_all_pairs = 256;
constexpr Eigen::Index dimension = 1000;  // beyond what is sent along with the first packet

Graph graph_of(int ranks, bool all_pairs) {
    std::vector<Edge> edges;
    for (int u = 0; u < ranks; ++u) {
        edges.emplace_back(u, (u + 1) % ranks);
        for (int v = u + 1; all_pairs && v < ranks; ++v) edges.emplace_back(u, v);
    }
    return Graph::from_edges(ranks, edges);
}

double known_value(int sender, Eigen::Index i) {
    return sender + 1 + static_cast<double>(i) / (2 * dimension);
}

/// A sender whose message arrived damaged in this process; -1 without one. COLLECTIVE.
int exchange_known_values(Network& network, const Graph& graph) {
    std::vector<Eigen::VectorXd> messages;
    std::vector<Outgoing> outgoing;
    for (const int agent : network.local_agents()) {
        Eigen::VectorXd& message = messages.emplace_back(dimension);
        for (Eigen::Index i = 0; i < dimension; ++i) message(i) = known_value(agent, i);
        outgoing.push_back({message.data(), {}});
    }
    std::atomic<int> wrong_sender = -1;
    const auto deliver = [&](std::size_t local_index,
                             Eigen::Index first,
                             Eigen::Index count,
                             std::span<const double* const> columns) {
        const auto members = graph.closed_neighbourhood(network.local_agents()[local_index]);
        for (std::size_t j = 0; j < columns.size(); ++j)
            for (Eigen::Index i = 0; i < count; ++i)
                if (columns[j][i] != known_value(members[j], first + i)) wrong_sender = members[j];
    };
    network.exchange({0, 0}, outgoing, dimension, deliver);
    return wrong_sender;
}

}  // namespace

DoctorCheck check_exchange(Network& network) {
    const int ranks = network.agents();
    const bool all_pairs = ranks <= most_ranks_all_pairs;
    const Graph graph = graph_of(ranks, all_pairs);
    network.connect(graph);
    const auto start = Clock::now();
    const int wrong_sender = exchange_known_values(network, graph);
    const double own_ms = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
    const double elapsed_ms = network.maximum(own_ms);
    const double part =
        network.sum_over_agents(Eigen::MatrixXd::Ones(1, std::ssize(network.local_agents())))(0);
    if (wrong_sender < 0 && part == ranks)
        return {"exchange",
                true,
                fmt::format("{} exchanged messages with {} (first time: {:.1f} ms)",
                            counted(ranks, "rank"),
                            all_pairs ? "all others" : "their neighbours on a ring",
                            elapsed_ms),
                ""};
    return {"exchange",
            false,
            wrong_sender >= 0 ? fmt::format("the message of rank {} arrived damaged", wrong_sender)
                              : fmt::format("{} of {} ranks took part in a sum", part, ranks),
            "in a container allow ptrace (docker run --cap-add=SYS_PTRACE)" +
                (launch_words().no_shared_reads.empty()
                     ? std::string()
                     : ", or set " + launch_words().no_shared_reads)};
}

}  // namespace sotto
