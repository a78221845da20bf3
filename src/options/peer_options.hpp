#pragma once

#include "config/config.hpp"
#include "options/option.hpp"

namespace sotto {

/// Of every job in which agents exchange messages: where it writes, keys, bootstrap, links and
/// threads.
[[nodiscard]] OptionGroup<TrainConfig>& peer_options();

}  // namespace sotto
