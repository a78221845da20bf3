#pragma once

#include "config/config.hpp"
#include "options/option.hpp"

namespace sotto {

/// What a training evaluates, records and keeps, and which run it resumes.
[[nodiscard]] OptionGroup<TrainConfig>& run_options();

}  // namespace sotto
