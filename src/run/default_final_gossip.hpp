#pragma once

#include "run/config.hpp"
#include "sotto/net/network.hpp"

namespace sotto {

/// L of --final-gossip where nobody said any: `auto`, or 0 where process 0 is asked for views, and
/// with secure sums. COLLECTIVE, after options were compared.
/// @throws NetworkError for a word that process 0 must not say; the same on every process.
void settle_final_gossip(TrainConfig& config, Network& network);

}  // namespace sotto
