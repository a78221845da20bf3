#pragma once

#include "views/step_entries.hpp"
#include "views/view_rounds.hpp"

namespace sotto {

/// Entries of past noise in the state after a round.
[[nodiscard]] Eigen::Index past_noise_size(const ViewRounds& rounds, long round);

/// The step with the noise of a round as its plan correlates it with earlier ones: v(t) of a round
/// in place of fresh noise, and past values h_1, h_2, ... behind the rest of the state. Those of an
/// earlier stretch are forgotten.
[[nodiscard]] StepEntries with_past_noise(StepEntries entries,
                                          const ViewRounds& rounds,
                                          long round,
                                          int step);

}  // namespace sotto
