#pragma once

#include <memory>
#include <string>

#include "sotto/net/network.hpp"

namespace sotto {

/// How this process was started, read from the launcher's environment before MPI is initialised.
struct LaunchEnvironment {
    bool launched = false;  ///< by mpirun, srun (more than one task) or the like
    int ranks = 1;          ///< size the launcher announced; 1 if it did not
    int rank = 0;           ///< this process, as the launcher numbers it
};
[[nodiscard]] LaunchEnvironment launch_environment();

/// MPI for the life of the object: sets mpi_yield_when_idle (unless the user set it) before
/// MPI_Init, so that more ranks than cores do not crawl, and finalizes at the end; not while an
/// exception unwinds it, because the other ranks may be waiting elsewhere (catch errors inside its
/// scope). Leaves starting and ending to a program that has started MPI itself.
class MpiSession {
  public:
    /// @throws NetworkError if MPI cannot start, if srun connects its tasks by neither PMIx nor
    /// PMI,
    ///         or if the launcher announced more ranks than MPI sees (the job fell apart into
    ///         single processes: a launcher of another MPI).
    MpiSession();
    ~MpiSession();
    MpiSession(const MpiSession&) = delete;
    MpiSession& operator=(const MpiSession&) = delete;

    [[nodiscard]] int ranks() const;
    [[nodiscard]] int rank() const;
    /// Library name and version, one line.
    [[nodiscard]] static std::string library_version();
    /// Host name of this process as MPI reports it.
    [[nodiscard]] static std::string host_name();

  private:
    bool owns_mpi_ = false;  // false when the program had started MPI before
    int exceptions_at_start_ = 0;
    int ranks_ = 1;
    int rank_ = 0;
};

/// One agent per rank of MPI_COMM_WORLD: agent u is rank u.
///
/// `exchange` is MPI_Ineighbor_allgather (or alltoall when the message depends on the receiver, and
/// when it is encrypted: each edge has a key of its own) on a distributed-graph communicator
/// (MPI_Dist_graph_create_adjacent, reorder = 0); messages above 1 MiB go in chunks that are
/// delivered, and so mixed, straight from the receive buffer while they are in the cache. Errors of
/// MPI calls become NetworkError.
[[nodiscard]] std::unique_ptr<Network> make_mpi_network(const MpiSession& session);

}  // namespace sotto
