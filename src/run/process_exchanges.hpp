#pragma once

#include "run/config.hpp"
#include "sotto/trust/learnt_sums.hpp"
#include "sotto/views/message_process.hpp"

namespace sotto {

/// What the agents of a run do with noisy gradients and messages: the gossip of every phase, which
/// depends on its mixing, momentum and final gossip. @param process with all its phases.
void set_exchanges(MessageProcess& process, const PlanConfig& plan);

/// How the run's secure sums are carried out: its steps are those after which anything of a round's
/// first messages is shown.
[[nodiscard]] SumRules sum_rules(const PlanConfig& plan, int mask_partners);

}  // namespace sotto
