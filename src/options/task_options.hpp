#pragma once

#include "config/config.hpp"
#include "options/option.hpp"

namespace sotto {

/// What is learnt, from which data, and its regularisation.
[[nodiscard]] OptionGroup<TrainConfig>& task_options();

}  // namespace sotto
