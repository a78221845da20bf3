#pragma once

#include "run/config.hpp"
#include "run/options/option.hpp"

namespace sotto {

/// What is learnt, from which data, and its regularisation.
[[nodiscard]] OptionGroup<TrainConfig>& task_options();

}  // namespace sotto
