#pragma once

#include <vector>

#include "run/config.hpp"
#include "run/options/option.hpp"

namespace sotto {

/// --covariance: a mechanism of one's own.
[[nodiscard]] std::vector<Option<PlanConfig>> covariance_options();

}  // namespace sotto
