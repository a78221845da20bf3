#pragma once

#include "config/config.hpp"
#include "options/option.hpp"

namespace sotto {

/// Options of every job in which agents exchange messages: output, keys, bootstrap, links and
/// threads.
[[nodiscard]] OptionGroup<TrainConfig>& peer_options();

}  // namespace sotto
