#pragma once

#include <string>

#include "commands/sweep/sweep_config.hpp"
#include "commands/sweep/sweep_result.hpp"

namespace sotto {

/// One row per cell, and one per training, as CSV with a header.
[[nodiscard]] std::string cells_csv(const SweepConfig& config, const SweepResult& result);
[[nodiscard]] std::string trainings_csv(const SweepConfig& config, const SweepResult& result);

}  // namespace sotto
