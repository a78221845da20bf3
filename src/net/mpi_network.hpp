#pragma once

#include <memory>

#include "net/mpi_session.hpp"
#include "net/network.hpp"

namespace sotto {

/// One agent per rank of the session: agent u is rank u.
///
/// `exchange` is MPI_Ineighbor_allgather (or alltoallv when the message depends on the receiver,
/// when it is encrypted, each pair of ranks with keys of its own, and when ranks host several
/// agents) on a distributed-graph communicator (MPI_Dist_graph_create_adjacent, reorder = 0);
/// messages above 1 MiB go in chunks that are delivered, and so mixed, straight from the receive
/// buffer while they are in the cache. Errors of MPI calls become NetworkError.
[[nodiscard]] std::unique_ptr<Network> make_mpi_network(const MpiSession& session);
/// Consecutive agents on each rank (AgentBlocks); what goes to all of a rank's agents goes there
/// once. Agents of one rank share its memory. COLLECTIVE, with the same number on every rank.
/// @throws ConfigError unless there is an agent for every rank.
[[nodiscard]] std::unique_ptr<Network> make_mpi_network(const MpiSession& session, int agents);

}  // namespace sotto
