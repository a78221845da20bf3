#pragma once

#include "config/config.hpp"
#include "sotto/design/smoothing.hpp"
#include "sotto/graph/gossip.hpp"
#include "sotto/graph/topography.hpp"

namespace sotto {

/// What the exchanges of one round make of its messages, as configured; K must be chosen.
/// @throws ConfigError for Chebyshev weights on a matrix that is not symmetric.
[[nodiscard]] GossipPolynomial configured_gossip(const PlanConfig& config,
                                                 const MixingMatrix& mixing);

/// L of --final-gossip: as configured, or, where that is left open, as many exchanges as leave at
/// most a twentieth of what agents' models differ by, but at most a twentieth of all exchanges of
/// the training (and one). 0 with a mixing schedule, with --plan, and
/// where messages are not mixed.
[[nodiscard]] int final_gossip_steps(const PlanConfig& config, const MixingSchedule& mixing);

/// What agents do beside mixing, as configured. The exchanges of final gossip have Chebyshev
/// weights where W is symmetric.
[[nodiscard]] Smoothing configured_smoothing(const PlanConfig& config,
                                             const Topography& topography);

/// @throws ConfigError for what cannot go together: gossip with Chebyshev weights, momentum, means
/// or final gossip with a mixing schedule; momentum and final gossip where noise is added to
/// messages; momentum where noise is correlated over rounds.
void require_possible_smoothing(const PlanConfig& config, const Topography& topography);

/// Where nobody chooses K. @throws ConfigError if it is left open.
void require_chosen_gossip_steps(const PlanConfig& config);

/// Messages of its noise are mixed by neighbours, and noise hides the models too that they mix.
[[nodiscard]] bool mixes_hidden_models(const PlanConfig& config);

}  // namespace sotto
