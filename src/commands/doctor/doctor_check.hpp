#pragma once

#include <string>
#include <vector>

#include "net/network.hpp"

namespace sotto {

/// The result of a check.
struct Finding {
    bool ok = true;
    std::string found;  ///< what is there, or what is wrong
    std::string fix;    ///< what to do; if `ok`, advice, usually empty
};

/// A check, with its result, of something that a training needs.
struct DoctorCheck {
    std::string name;  ///< lower-case words joined by '-'; scripts rely on it
    bool ok = true;
    std::string found;        ///< as Finding
    std::string fix;          ///< as Finding
    bool must_agree = false;  ///< `found` must be the same on every rank
};

/// "1 core", "3 cores".
[[nodiscard]] std::string counted(int count, const char* noun);

/// Where a process runs, and with how many others.
struct Placement {
    bool launched = false;  ///< by mpirun or the like
    int rank = 0;
    int ranks = 1;
    std::string host;
    int ranks_on_host = 1;
    int cores_on_host = 1;  ///< cores that the ranks of this host share
};

/// Cores of the host, fewer if a container limits processor time.
[[nodiscard]] int usable_cores(const Placement& placement);

/// Finds which ranks share a host. @param network one agent per process. COLLECTIVE.
[[nodiscard]] Placement find_placement(Network& network);

/// Sends known values between all ranks (along a ring above 256 ranks) and compares what arrives.
/// Calls network.connect. COLLECTIVE.
[[nodiscard]] DoctorCheck check_exchange(Network& network);

}  // namespace sotto
