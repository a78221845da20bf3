#pragma once

#include <vector>

#include "commands/doctor/doctor.hpp"

namespace sotto::test {

/// A check that all ranks pass with the same words, one that each fills in, one that must agree.
inline RankFindings findings(int rank, const std::string& host) {
    Placement placement;
    placement.launched = true;
    placement.rank = rank;
    placement.ranks = 4;
    placement.host = host;
    placement.cores_on_host = 2;
    return {placement,
            {{"folder", true, "can be written", "", false}, {"version", true, "1.0", "", true}}};
}

inline std::vector<RankFindings> four_ranks_on_two_hosts() {
    return {findings(0, "alpha"), findings(1, "alpha"), findings(2, "beta"), findings(3, "beta")};
}

}  // namespace sotto::test
