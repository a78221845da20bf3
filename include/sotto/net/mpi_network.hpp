#pragma once

#include <memory>

#include "sotto/net/mpi_session.hpp"
#include "sotto/net/network.hpp"

namespace sotto {

/// One agent per rank of MPI_COMM_WORLD: agent u is rank u.
///
/// `exchange` is MPI_Ineighbor_allgather (or alltoall when the message depends on the receiver, and
/// when it is encrypted: each edge has a key of its own) on a distributed-graph communicator
/// (MPI_Dist_graph_create_adjacent, reorder = 0); messages above 1 MiB go in chunks that are
/// delivered, and so mixed, straight from the receive buffer while they are in the cache. Errors of
/// MPI calls become NetworkError.
[[nodiscard]] std::unique_ptr<Network> make_mpi_network(const MpiSession& session);

}  // namespace sotto
