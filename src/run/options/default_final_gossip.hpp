#pragma once

#include "run/options/written_options.hpp"

namespace sotto {

/// `given`, with --final-gossip auto where nobody says how many, and nothing is asked that it would
/// make less exact: what secure sums or partial views show (--secure-sum, --view, --record-view),
/// plans from files, and mixing that changes.
[[nodiscard]] OptionTexts with_default_final_gossip(OptionTexts given);

}  // namespace sotto
