#pragma once

#include <string>

#include "run/training.hpp"

namespace sotto::cli {

/// The table at the end of a training, for people.
[[nodiscard]] std::string summary_text(const TrainResult& result, const TrainConfig& config);

}  // namespace sotto::cli
