#pragma once

#include "account/published_bound.hpp"

namespace sotto {

// Of what observers learn.
[[nodiscard]] PublishedBound muffliato_record();
[[nodiscard]] PublishedBound gossip_sums_record();
[[nodiscard]] PublishedBound gossip_messages_record();

// Of trainings whose noise cancels in the mean over agents.
[[nodiscard]] PublishedBound disagreement_record();
[[nodiscard]] PublishedBound descent_record();
[[nodiscard]] PublishedBound stationarity_record();

}  // namespace sotto
