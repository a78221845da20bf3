#pragma once

// What a run directory holds that its ledger does not count; not installed.

#include <string>
#include <vector>

#include "config/config.hpp"
#include "sotto/plan/noise_plan.hpp"

namespace sotto {

/// Files that show more of the agents' data or keys than the ledger says.
struct DirectorySecret {
    std::vector<std::string> files;  ///< patterns, below the run directory
    std::string reason;
};

/// Those of a training. Models are among them by the plan's own coefficients, not by its name.
[[nodiscard]] std::vector<DirectorySecret> directory_secrets(const TrainConfig& config,
                                                             const NoisePlan& plan);

}  // namespace sotto
