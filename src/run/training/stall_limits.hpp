#pragma once

#include "sotto/net/network.hpp"

namespace sotto {

/// How long a training waits for other processes; who is silent is reported on standard error.
/// @param warn_seconds, abort_seconds --stall-warn and --stall-abort.  @param process that reports.
/// @param patience how many times --stall-abort it waits.
[[nodiscard]] StallLimits stall_limits(double warn_seconds,
                                       double abort_seconds,
                                       int process,
                                       int patience = 1);

}  // namespace sotto
