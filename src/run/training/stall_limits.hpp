#pragma once

#include "run/config.hpp"
#include "sotto/net/network.hpp"

namespace sotto {

/// How long a training waits for other processes; who is silent is reported on standard error.
/// @param process that reports.  @param patience how many times --stall-abort it waits.
[[nodiscard]] StallLimits stall_limits(const TrainConfig& config, int process, int patience = 1);

}  // namespace sotto
