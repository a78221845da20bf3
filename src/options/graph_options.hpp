#pragma once

#include "config/config.hpp"
#include "options/option.hpp"

namespace sotto {

/// Which graph, and how models are mixed on it.
[[nodiscard]] OptionGroup<GraphConfig>& graph_options();

}  // namespace sotto
