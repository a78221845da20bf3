#pragma once

#include <string>

#include "options/written_options.hpp"

namespace sotto {

/// `given`, with --clip-norm 1 and --step-size 0.5 where single records are protected and nobody
/// says otherwise: the clip is then of a record's gradient, whose norm is about 1 where a model
/// begins to learn, and noise shrinks with the batch. `auto` learns the clip from there. With an
/// adjacency of agents defaults are those of PlanConfig.
[[nodiscard]] OptionTexts with_default_clip(OptionTexts given);

}  // namespace sotto
