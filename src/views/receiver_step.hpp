#pragma once

#include "views/state_layout.hpp"
#include "views/step_entries.hpp"
#include "views/view_rounds.hpp"

namespace sotto {

/// A gossip step where every receiver may get another message: the state is the models before the
/// round. Without the past noise of correlated rounds.
[[nodiscard]] StepEntries receiver_step(const ViewRounds& rounds,
                                        const StateLayouts& layouts,
                                        long round,
                                        int step);

}  // namespace sotto
