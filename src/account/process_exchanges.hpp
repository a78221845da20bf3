#pragma once

#include "config/config.hpp"
#include "sotto/views/message_process.hpp"

namespace sotto {

/// What the agents of a run do with noisy gradients and messages: the gossip of every phase, which
/// depends on its mixing, momentum and final gossip. @param process with its graph and all phases.
void set_exchanges(MessageProcess& process, const PlanConfig& plan);

}  // namespace sotto
