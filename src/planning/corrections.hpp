#pragma once

#include <string>
#include <vector>

#include "config/config.hpp"
#include "graph/topography.hpp"
#include "sotto/graph/gossip.hpp"
#include "sotto/plan/noise_plan.hpp"

namespace sotto {

/// What --correction auto stands for: exact diffusion where it is possible, tracking where that
/// alone is, and none with secure sums, designed mixing, a plan file and wherever
/// require_possible_correction refuses both. Depends on nothing that differs between processes.
/// @param designed_mixing the mixing weights are made for the noise (--mixing optimised).
[[nodiscard]] Correction chosen_correction(const PlanConfig& config,
                                           const Topography& topography,
                                           bool secure_sum,
                                           bool designed_mixing);

/// @throws ConfigError with the reason for mechanisms with noise on messages, noise that is
/// correlated over rounds, or a trusted aggregator; for directed graphs and mixing that is not
/// doubly stochastic; and for exact diffusion with mixing that changes or is not symmetric.
void require_possible_correction(const PlanConfig& config, const Topography& topography);
/// The same for a plan. @throws ConfigError.
void require_possible_correction(const PlanConfig& config, const NoisePlan& plan);
/// What the ledger says of a correction; nothing without one.
[[nodiscard]] std::vector<std::string> correction_statements(const PlanConfig& config);
/// @throws ConfigError for a correction with secure sums.
void require_correction_beside_sums(const PlanConfig& config, bool secure_sum);
/// @throws ConfigError for a correction with --mixing optimised.
void require_correction_beside_mixing(const PlanConfig& config, bool designed_mixing);

}  // namespace sotto
