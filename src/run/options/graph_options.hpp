#pragma once

#include "run/config.hpp"
#include "run/options/option.hpp"

namespace sotto {

/// Which graph, and how models are mixed on it.
[[nodiscard]] OptionGroup<GraphConfig>& graph_options();

}  // namespace sotto
