#include "net/mpi/links.hpp"

#include <algorithm>
#include <iterator>
#include <tuple>

namespace sotto {

namespace {

/// A directed edge between agents of two processes, from the view of one.
struct DirectedEdge {
    int neighbour_process, sender, receiver;
    LinkEnd end;
};

std::size_t place_in(std::span<const int> ascending, int agent) {
    return static_cast<std::size_t>(std::ranges::lower_bound(ascending, agent) - ascending.begin());
}

/// Ascending, each once.
std::vector<int> processes_of(const std::vector<DirectedEdge>& edges) {
    std::vector<int> processes;
    for (const DirectedEdge& edge : edges) processes.push_back(edge.neighbour_process);
    std::ranges::sort(processes);
    const auto repeated = std::ranges::unique(processes);
    processes.erase(repeated.begin(), repeated.end());
    return processes;
}

/// In message order, with indices of the other processes and of senders.
std::vector<LinkEnd> ordered(std::vector<DirectedEdge> edges, std::span<const int> processes) {
    std::ranges::sort(edges, {}, [](const DirectedEdge& edge) {
        return std::tuple(edge.neighbour_process, edge.sender, edge.receiver);
    });
    std::vector<LinkEnd> ends;
    for (std::size_t e = 0; e < edges.size(); ++e) {
        DirectedEdge& edge = edges[e];
        edge.end.neighbour = place_in(processes, edge.neighbour_process);
        const bool goes_on = e > 0 && edges[e - 1].neighbour_process == edge.neighbour_process;
        edge.end.sender =
            goes_on ? ends.back().sender + (edges[e - 1].sender == edge.sender ? 0U : 1U) : 0;
        ends.push_back(edge.end);
    }
    return ends;
}

}  // namespace

Digest graph_of_rank_0(MpiWorld& world, const Graph& own) {
    Digest digest = own.hash();
    world.complete("MPI_Ibcast", [&](MPI_Request* request) {
        return MPI_Ibcast(
            digest.data(), mpi_count(digest.size()), MPI_UINT8_T, 0, world.communicator(), request);
    });
    return digest;
}

MpiLinks::~MpiLinks() {
    if (connected() && world_.orderly()) MPI_Comm_free(&communicator_);
}

void MpiLinks::connect(const Graph& graph) {
    list_links(graph);
    count_links(graph);
    create_communicator();
}

void MpiLinks::list_links(const Graph& graph) {
    const int own = world_.rank();
    const int first = blocks_.first(own);
    std::vector<DirectedEdge> to, from;
    for (int agent = first; agent < first + blocks_.size(own); ++agent) {
        const auto local = static_cast<std::size_t>(agent - first);
        const auto members = graph.closed_neighbourhood(agent);
        members_.push_back(members.size());
        own_places_.push_back(place_in(members, agent));
        for (std::size_t place = 0; place < members.size(); ++place) {
            const int other = members[place];
            const int process = blocks_.process_of(other);
            const bool heard = other == agent || graph.hears(agent, other);
            if (process == own) {
                if (heard)
                    inner_.push_back({local,
                                      place,
                                      static_cast<std::size_t>(other - first),
                                      place_in(graph.closed_neighbourhood(other), agent)});
                continue;
            }
            if (graph.hears(other, agent))
                to.push_back({process, agent, other, {0, local, place, 0, other}});
            if (heard) from.push_back({process, other, agent, {0, local, place, 0, other}});
        }
    }
    const std::vector<int> destinations = processes_of(to), sources = processes_of(from);
    std::ranges::set_union(destinations, sources, std::back_inserter(neighbours_));
    for (const int process : destinations) destinations_.push_back(place_in(neighbours_, process));
    for (const int process : sources) sources_.push_back(place_in(neighbours_, process));
    outgoing_ = ordered(std::move(to), destinations);
    incoming_ = ordered(std::move(from), sources);
}

void MpiLinks::count_links(const Graph& graph) {
    std::vector<std::size_t> to(static_cast<std::size_t>(blocks_.processes()), 0), from = to;
    for (int agent = 0; agent < blocks_.agents(); ++agent) {
        const int process = blocks_.process_of(agent);
        for (const int hearer : graph.hearers(agent)) {
            const int other = blocks_.process_of(hearer);
            if (other == process) continue;
            ++to[static_cast<std::size_t>(process)];
            ++from[static_cast<std::size_t>(other)];
        }
    }
    most_links_ = std::max(std::ranges::max(to), std::ranges::max(from));
}

void MpiLinks::create_communicator() {
    const auto ranks_of = [&](const std::vector<std::size_t>& places) {
        // One spare entry: some libraries reject a null pointer even without neighbours.
        std::vector<int> ranks(places.size() + 1, world_.rank());
        std::ranges::transform(
            places, ranks.begin(), [&](std::size_t j) { return neighbours_[j]; });
        return ranks;
    };
    const std::vector<int> sources = ranks_of(sources_), destinations = ranks_of(destinations_);
    check_mpi(MPI_Dist_graph_create_adjacent(world_.communicator(),
                                             mpi_count(sources_.size()),
                                             sources.data(),
                                             MPI_UNWEIGHTED,
                                             mpi_count(destinations_.size()),
                                             destinations.data(),
                                             MPI_UNWEIGHTED,
                                             MPI_INFO_NULL,
                                             0,
                                             &communicator_),
              "MPI_Dist_graph_create_adjacent");
    check_mpi(MPI_Comm_set_errhandler(communicator_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
}

}  // namespace sotto
