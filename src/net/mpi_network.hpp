#pragma once

#include <memory>

#include "net/mpi_session.hpp"
#include "net/network.hpp"

namespace sotto {

/// One agent per rank of the session: agent u is rank u.
///
/// `exchange` is MPI_Ineighbor_allgather on a distributed-graph communicator, or alltoallv if
/// messages depend on the receiver, are encrypted, or ranks host several agents. Messages above 1
/// MiB go in chunks that are mixed while in cache. Errors of MPI calls become NetworkError.
[[nodiscard]] std::unique_ptr<Network> make_mpi_network(const MpiSession& session);
/// Consecutive agents on each rank (AgentBlocks); a message for several agents of a rank is sent
/// there once. COLLECTIVE, with the same number on every rank.
/// @throws ConfigError with fewer agents than ranks.
[[nodiscard]] std::unique_ptr<Network> make_mpi_network(const MpiSession& session, int agents);

}  // namespace sotto
