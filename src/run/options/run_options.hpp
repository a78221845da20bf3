#pragma once

#include "run/config.hpp"
#include "run/options/option.hpp"

namespace sotto {

/// What a training evaluates, records and keeps, and which run it takes up.
[[nodiscard]] OptionGroup<TrainConfig>& run_options();

}  // namespace sotto
