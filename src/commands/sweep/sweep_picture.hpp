#pragma once

#include <string>

#include "commands/sweep/sweep_config.hpp"
#include "commands/sweep/sweep_result.hpp"

namespace sotto {

/// The picture of choose_by over the option `plot`, a line per variant; nothing where gnuplot or
/// figures are missing. @return its path.
[[nodiscard]] std::string draw_sweep(const SweepConfig& config, const SweepResult& result);

}  // namespace sotto
