#pragma once

#include <string>
#include <vector>

#include "net/network.hpp"

namespace sotto {

/// What a check found out.
struct Finding {
    bool ok = true;
    std::string found;  ///< what is there, or what is wrong
    std::string fix;    ///< what to do; with `ok` advice only, mostly empty
};

/// One thing that must be right before a training can work.
struct DoctorCheck {
    std::string name;  ///< lower-case words joined by '-'; scripts rely on it
    bool ok = true;
    std::string found;        ///< as Finding
    std::string fix;          ///< as Finding
    bool must_agree = false;  ///< `found` must be the same on every rank
};

/// "1 core", "3 cores".
[[nodiscard]] std::string counted(int count, const char* noun);

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

/// Sends something known between all ranks (along a ring above 256) and compares what arrives.
/// `connect`s the network. COLLECTIVE.
[[nodiscard]] DoctorCheck check_exchange(Network& network);

}  // namespace sotto
