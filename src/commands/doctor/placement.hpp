#pragma once

#include <string>
#include <vector>

#include "sotto/net/network.hpp"

namespace sotto {

/// Where a process runs, and beside whom.
struct Placement {
    bool launched = false;  ///< by mpirun or the like
    int rank = 0;
    int ranks = 1;
    std::string host;
    int ranks_on_host = 1;
    int cores_on_host = 1;  ///< that the ranks of this host may use together
};

/// Numbers of the cores this process may run on, ascending.
[[nodiscard]] std::vector<int> allowed_cores();
/// Cores of the host, less where a container limits processor time.
[[nodiscard]] int usable_cores(const Placement& placement);

/// Who is on which host. @param network one agent per process. COLLECTIVE.
[[nodiscard]] Placement find_placement(Network& network);

}  // namespace sotto
