#include "links.hpp"

#include <algorithm>
#include <tuple>

namespace sotto {

namespace {

/// A directed edge between agents of two processes, seen from one of them.
struct DirectedEdge {
    int neighbour_process, sender, receiver;
    LinkEnd end;
};

std::size_t place_in(std::span<const int> ascending, int agent) {
    return static_cast<std::size_t>(std::ranges::lower_bound(ascending, agent) - ascending.begin());
}

/// In the order in which their messages go, with numbers of neighbours and of senders.
std::vector<LinkEnd> ordered(std::vector<DirectedEdge> edges, std::span<const int> neighbours) {
    std::ranges::sort(edges, {}, [](const DirectedEdge& edge) {
        return std::tuple(edge.neighbour_process, edge.sender, edge.receiver);
    });
    std::vector<LinkEnd> ends;
    for (std::size_t e = 0; e < edges.size(); ++e) {
        DirectedEdge& edge = edges[e];
        edge.end.neighbour = place_in(neighbours, edge.neighbour_process);
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
            if (process == own) {
                inner_.push_back({local,
                                  place,
                                  static_cast<std::size_t>(other - first),
                                  place_in(graph.closed_neighbourhood(other), agent)});
                continue;
            }
            neighbours_.push_back(process);
            to.push_back({process, agent, other, {0, local, place, 0}});
            from.push_back({process, other, agent, {0, local, place, 0}});
        }
    }
    std::ranges::sort(neighbours_);
    const auto repeated = std::ranges::unique(neighbours_);
    neighbours_.erase(repeated.begin(), repeated.end());
    outgoing_ = ordered(std::move(to), neighbours_);
    incoming_ = ordered(std::move(from), neighbours_);
}

void MpiLinks::count_links(const Graph& graph) {
    std::vector<std::size_t> links(static_cast<std::size_t>(blocks_.processes()), 0);
    for (int agent = 0; agent < blocks_.agents(); ++agent) {
        const int process = blocks_.process_of(agent);
        for (const int other : graph.neighbours(agent))
            if (blocks_.process_of(other) != process) ++links[static_cast<std::size_t>(process)];
    }
    most_links_ = std::ranges::max(links);
}

void MpiLinks::create_communicator() {
    // One spare entry: some libraries reject a null pointer even for no neighbours.
    std::vector<int> peers(degree() + 1, world_.rank());
    std::ranges::copy(neighbours_, peers.begin());
    const int count = mpi_count(degree());
    check_mpi(MPI_Dist_graph_create_adjacent(world_.communicator(),
                                             count,
                                             peers.data(),
                                             MPI_UNWEIGHTED,
                                             count,
                                             peers.data(),
                                             MPI_UNWEIGHTED,
                                             MPI_INFO_NULL,
                                             0,
                                             &communicator_),
              "MPI_Dist_graph_create_adjacent");
    check_mpi(MPI_Comm_set_errhandler(communicator_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
}

}  // namespace sotto
