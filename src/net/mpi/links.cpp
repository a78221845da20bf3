#include "links.hpp"

#include <algorithm>

namespace sotto {

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
    const auto neighbours = graph.neighbours(world_.rank());
    neighbours_.assign(neighbours.begin(), neighbours.end());
    own_place_ = static_cast<std::size_t>(std::ranges::lower_bound(neighbours, world_.rank()) -
                                          neighbours.begin());
    // One spare entry: some libraries reject a null pointer even for no neighbours.
    std::vector<int> peers(degree() + 1, world_.rank());
    std::ranges::copy(neighbours, peers.begin());
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
