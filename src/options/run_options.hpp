#pragma once

#include "config/config.hpp"
#include "options/option.hpp"

namespace sotto {

/// Options for evaluation, recordings, checkpoints and the run to resume.
[[nodiscard]] OptionGroup<TrainConfig>& run_options();

}  // namespace sotto
