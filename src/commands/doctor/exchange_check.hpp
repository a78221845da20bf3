#pragma once

#include "commands/doctor/doctor_check.hpp"
#include "sotto/net/network.hpp"

namespace sotto {

/// Sends something known between all ranks (along a ring above 256) and compares what arrives.
/// `connect`s the network. COLLECTIVE.
[[nodiscard]] DoctorCheck check_exchange(Network& network);

}  // namespace sotto
