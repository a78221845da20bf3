#pragma once

#include <string>
#include <vector>

#include "config/config.hpp"
#include "net/network.hpp"
#include "options/option.hpp"
#include "options/written_options.hpp"

namespace sotto {

/// Which noise, for which budget.
[[nodiscard]] OptionGroup<PlanConfig>& plan_options();

/// --covariance: a mechanism of one's own.
[[nodiscard]] std::vector<Option<PlanConfig>> covariance_options();

/// `given`, with --clip-norm 1 and --step-size 0.5 where single records are protected and nobody
/// says otherwise: the clip is then of a record's gradient, whose norm is about 1 where a model
/// begins to learn, and noise shrinks with the batch. `auto` learns the clip from there. With an
/// adjacency of agents defaults are those of PlanConfig.
[[nodiscard]] OptionTexts with_default_clip(OptionTexts given);

/// `given`, with --participation poisson where nobody names one and it is possible: records are
/// added, removed or zeroed out, batches are smaller than all records, and the mechanism has
/// independent rounds. Secretly sampled batches need least noise. And where clients are sampled.
[[nodiscard]] OptionTexts with_default_participation(OptionTexts given);
/// The same where no data are read: where a probability is given.
[[nodiscard]] OptionTexts with_participation_without_data(OptionTexts given);

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
