#pragma once

#include <string>
#include <vector>

#include "config/config.hpp"
#include "net/network.hpp"
#include "options/option.hpp"
#include "options/written_options.hpp"

namespace sotto {

/// Which noise, for which budget.
[[nodiscard]] OptionGroup<AskedPlan>& plan_options();

/// --covariance: a mechanism of one's own.
[[nodiscard]] std::vector<Option<AskedPlan>> covariance_options();

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

/// Whether L of --final-gossip is left to the plan: it is not where it was given, nor where figures
/// of the rounds alone are asked for, which exchanges after them would change (views of few
/// messages, what secure sums hide, noise planned for missed rounds); there it is 0.
/// @param given the options as they were typed.
[[nodiscard]] bool leaves_final_gossip_open(const OptionTexts& given, bool rounds_alone);

}  // namespace sotto
