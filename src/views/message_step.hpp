#pragma once

#include "views/state_layout.hpp"
#include "views/step_entries.hpp"
#include "views/view_rounds.hpp"

namespace sotto {

/// A gossip step where every receiver of a message gets the same one: the state is hidden agents'
/// messages, m = here W m' - before m'' + q with m' and m'' those one and two exchanges earlier;
/// seen messages are known. With secure sums nobody's message is seen, and y = (rows of W) m(t).
/// Without the past noise of correlated rounds.
[[nodiscard]] StepEntries message_step(const ViewRounds& rounds,
                                       const StateLayouts& layouts,
                                       long round,
                                       int step);

}  // namespace sotto
