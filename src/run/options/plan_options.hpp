#pragma once

#include "run/config.hpp"
#include "run/options/option.hpp"

namespace sotto {

/// Which noise, for which budget.
[[nodiscard]] OptionGroup<PlanConfig>& plan_options();

}  // namespace sotto
