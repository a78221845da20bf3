#pragma once

#include "config/config.hpp"
#include "options/option.hpp"

namespace sotto {

/// Options for the graph and the mixing of models on it.
[[nodiscard]] OptionGroup<GraphConfig>& graph_options();

}  // namespace sotto
