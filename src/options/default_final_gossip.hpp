#pragma once

#include "config/config.hpp"
#include "options/written_options.hpp"
#include "sotto/net/network.hpp"

namespace sotto {

/// L of --final-gossip where nobody said any, for every command that plans: `auto`, or 0 where
/// figures of the rounds alone are asked for, which exchanges after them would change: views of few
/// messages, what secure sums hide, noise planned for missed rounds.
/// @param given the options as they were typed.
void settle_final_gossip(PlanConfig& config, const OptionTexts& given, bool rounds_alone);

/// The same in a training, where it is left open (PlanConfig::default_final_gossip): process 0 says
/// whether it is asked for views. COLLECTIVE, after options were compared.
/// @throws NetworkError for a word that process 0 must not say; the same on every process.
void settle_final_gossip(TrainConfig& config, Network& network);

}  // namespace sotto
