#pragma once

#include <string>
#include <vector>

#include "config/config.hpp"
#include "net/network.hpp"
#include "options/option.hpp"
#include "options/written_options.hpp"

namespace sotto {

/// Options for noise and budget.
[[nodiscard]] OptionGroup<AskedPlan>& plan_options();

/// --covariance, for a mechanism from a file.
[[nodiscard]] std::vector<Option<AskedPlan>> covariance_options();

/// Adds --clip-norm 1 and --step-size 0.5 if single records are protected and these options are not
/// given. The clip then applies to a record's gradient, whose norm is about 1 when learning begins,
/// and noise shrinks with the batch. `learnt` starts to learn the clip there. With an adjacency of
/// agents the defaults are those of PlanConfig.
[[nodiscard]] OptionTexts with_default_clip(OptionTexts given);

/// Adds `auto` for every one of --rounds, --batch-size, --clip-norm and --step-size that is not
/// given: with --tune auto, or where single records are protected and --tune is not given. @throws ConfigError for --tune off beside `auto`.
[[nodiscard]] OptionTexts with_tuning(OptionTexts given);

/// Adds --participation poisson if none is given and clients are sampled, or if it is possible:
/// records are added, removed or zeroed out, batches are smaller than all records, the mechanism
/// has independent rounds, and calibration is exact. Secretly sampled batches need the least noise.
[[nodiscard]] OptionTexts with_default_participation(OptionTexts given);
/// The same without data, if a probability is given.
[[nodiscard]] OptionTexts with_participation_without_data(OptionTexts given);

/// Whether L of --final-gossip is open. It is not if it is given. It is 0 if figures of the rounds
/// alone are requested, because later exchanges would change them: views of few messages, what
/// secure sums hide, noise planned for missed rounds. @param given the options as typed.
[[nodiscard]] bool leaves_final_gossip_open(const OptionTexts& given, bool rounds_alone);

}  // namespace sotto
