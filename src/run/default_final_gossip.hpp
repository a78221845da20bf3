#pragma once

#include "run/config.hpp"
#include "sotto/net/network.hpp"

namespace sotto {

/// Whether exchanges after the last round would make less exact what is asked for: what secure sums
/// hide, and figures of partial views.
[[nodiscard]] bool asks_for_figures_of_rounds(const TrainConfig& config);

/// L of --final-gossip where nobody said any: `auto`, or 0 where process 0, or with secure sums
/// this one, asks_for_figures_of_rounds. COLLECTIVE, after options were compared.
/// @throws NetworkError for a word that process 0 must not say; the same on every process.
void settle_final_gossip(TrainConfig& config, Network& network);

}  // namespace sotto
