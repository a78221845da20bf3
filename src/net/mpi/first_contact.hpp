#pragma once

#include <string>
#include <vector>

#include "net/host_networks.hpp"
#include "net/mpi_call.hpp"

namespace sotto {

/// How long processes try to reach each other [s].
inline constexpr double seconds_to_meet = 100;

/// A communicator of all processes; making it sends the first messages of the job. COLLECTIVE over
/// the job.
/// @throws NetworkError after `patience` seconds; that of process 0 names silent processes and
/// conflicting addresses (contact_failure), as far as the launcher's own channel carries them. No
/// other MPI call is possible then.
[[nodiscard]] MPI_Comm first_contact(MPI_Comm job = MPI_COMM_WORLD,
                                     double patience = seconds_to_meet);

struct ContactNote {
    std::string host;  ///< empty: the process is silent
    std::vector<HostAddress> addresses;
};

/// One line: silent processes, addresses used by several hosts, the network all share.
/// @param notes of all processes.
[[nodiscard]] std::string contact_failure(const std::vector<ContactNote>& notes, double patience);

}  // namespace sotto
