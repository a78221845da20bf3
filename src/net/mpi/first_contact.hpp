#pragma once

// The first messages of a job.

#include <string>
#include <vector>

#include "net/host_networks.hpp"
#include "net/mpi_call.hpp"

namespace sotto {

/// How long processes try to reach each other. [s]
inline constexpr double seconds_to_meet = 100;

/// A communicator of all processes; making it is the first thing that goes from each to others.
/// COLLECTIVE over the job. @throws NetworkError after `patience` seconds: process 0's says
/// who is silent and which addresses are in the way (contact_failure), as far as the launcher,
/// which has ways of its own, carries that. Then no other call of MPI is possible.
[[nodiscard]] MPI_Comm first_contact(MPI_Comm job = MPI_COMM_WORLD,
                                     double patience = seconds_to_meet);

/// What a process says about itself.
struct ContactNote {
    std::string host;  ///< empty: nothing, it is silent
    std::vector<HostAddress> addresses;
};

/// In one line: who is silent, addresses that stand on several hosts, the network that all share.
/// @param notes of all processes.
[[nodiscard]] std::string contact_failure(const std::vector<ContactNote>& notes, double patience);

}  // namespace sotto
