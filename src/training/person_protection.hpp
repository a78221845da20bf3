#pragma once

#include <span>

#include "config/config.hpp"
#include "training/prepare_run.hpp"

namespace sotto {

/// @throws ConfigError where the budget is to hold for persons with records at several agents
/// (--unit-agents above 1) and agents may leave or join, or the run goes on with a new plan:
/// budgets that are left count what single agents have spent.
void require_possible_persons(const TrainConfig& config, const AgreedPhase& phase);

/// Lets this process check that the plan protects persons with records at its agents and others.
/// LOCAL. Nothing happens for K = 1, without noise, and with --noise-std, which promises no
/// epsilon.
/// @param phase with process 0's plan, and counted for it.  @param local places of this process.
/// @throws PrivacyError.
void verify_persons_protected(const AgreedPhase& phase,
                              std::span<const int> local,
                              int coalition_size);

}  // namespace sotto
