#pragma once

#include "config/config.hpp"
#include "options/general_options.hpp"
#include "sotto/net/network.hpp"

namespace sotto {

/// A training on any network: on all its agents, or on those of them that are no spares
/// (--spares), which wait. Where agents leave or join it goes on with the others in a new phase.
/// Reports on process 0. COLLECTIVE.
/// @return the exit code.  @throws as run_training, and ConfigError for agents that cannot leave.
[[nodiscard]] int train_on(Network& network,
                           const GeneralOptions& general,
                           const TrainConfig& config);

}  // namespace sotto
