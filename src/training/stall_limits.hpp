#pragma once

#include "sotto/net/network.hpp"

namespace sotto {

/// The bootstrap may read large files and solve a large plan, and what follows the rounds compute
/// figures of many views: as many times what a round may take.
inline constexpr int patience_outside_rounds = 10;

/// How long a training waits for other processes; who is silent is reported on standard error.
/// @param warn_seconds, abort_seconds --stall-warn and --stall-abort.  @param process_name of who
/// reports.
/// @param patience how many times --stall-abort it waits.
[[nodiscard]] StallLimits stall_limits(double warn_seconds,
                                       double abort_seconds,
                                       const std::string& process_name,
                                       int patience = 1);

}  // namespace sotto
