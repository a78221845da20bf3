#include "commands/doctor/doctor_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <set>
#include <sstream>

#include "commands/doctor/launch_checks.hpp"
#include "core/host.hpp"
#include "core/stopwatch.hpp"

namespace sotto {

std::string counted(int count, const char* noun) {
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

int usable_cores(const Placement& placement) {
    return std::min(placement.cores_on_host, core_quota().value_or(placement.cores_on_host));
}

Placement find_placement(Network& network) {
    Placement placement;
    placement.launched = true;
    placement.rank = network.process();
    placement.ranks = network.processes();
    placement.host = local_host_name();
    placement.ranks_on_host = 0;
    std::string mine = placement.host + "\n";
    for (const int core : allowed_cores()) mine += fmt::format("{} ", core);
    // Launchers bind each rank to its own cores; the host's cores are all of these together.
    std::set<int> cores;
    for (const auto& theirs : network.all_gather(mine, most_line_bytes)) {
        std::istringstream words(theirs);
        std::string host;
        std::getline(words, host);
        if (host != placement.host) continue;
        ++placement.ranks_on_host;
        for (int core = 0; words >> core;) cores.insert(core);
    }
    placement.cores_on_host = std::max(1, static_cast<int>(cores.size()));
    return placement;
}

namespace {

constexpr int most_ranks_all_pairs = 256;
constexpr Eigen::Index dimension = 1000;  // more than the first packet holds

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

/// A sender whose message arrived damaged in this process; -1 if there is none. COLLECTIVE.
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
