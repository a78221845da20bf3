#pragma once

#include <string>

#include "config/config.hpp"
#include "training/train_result.hpp"

namespace sotto {

/// The JSON object of `sotto train` (docs/cli.md), as text.
[[nodiscard]] std::string summary_json(const TrainResult& result, const PlanConfig& config);

}  // namespace sotto
