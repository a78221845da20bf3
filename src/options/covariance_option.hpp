#pragma once

#include <vector>

#include "config/config.hpp"
#include "options/option.hpp"

namespace sotto {

/// --covariance: a mechanism of one's own.
[[nodiscard]] std::vector<Option<PlanConfig>> covariance_options();

}  // namespace sotto
