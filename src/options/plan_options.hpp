#pragma once

#include "config/config.hpp"
#include "options/option.hpp"

namespace sotto {

/// Which noise, for which budget.
[[nodiscard]] OptionGroup<PlanConfig>& plan_options();

}  // namespace sotto
