#pragma once

#include <string>
#include <vector>

#include "agent/shared_preconditioner.hpp"
#include "training/run.hpp"

namespace sotto {

/// The preconditioner of --precondition-every, with the exchanges after which agents' models differ
/// by 1e-4 of what they did, and the noise of the run's plan.
[[nodiscard]] Preconditioning configured_preconditioning(const Run& run);

/// @throws ConfigError if agents cannot share a preconditioner as configured.
void require_possible_preconditioner(const Run& run);

/// Statements on it for the ledger; none without one.
[[nodiscard]] std::vector<std::string> preconditioner_statements(const TrainConfig& config);

}  // namespace sotto
