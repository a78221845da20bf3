#pragma once

#include "config/config.hpp"
#include "graph/topography.hpp"
#include "sotto/design/design.hpp"
#include "sotto/graph/gossip.hpp"
#include "sotto/plan/membership.hpp"
#include "sotto/plan/noise_plan.hpp"
#include "sotto/privacy/privacy_record.hpp"
#include "sums/learnt_sums.hpp"

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

/// Messages of its noise are mixed by neighbours, and noise hides the models too that they mix.
[[nodiscard]] bool mixes_hidden_models(const PlanConfig& config);

/// Sizes of coalitions that are looked at for people who ask what secure sums hide.
inline constexpr int colluders_to_tell_of = 4;

/// What secure sums hide from the colluders asked for, at least from one, and, to tell of, from up
/// to `further`; agents by number. LOCAL. Cost: what_sums_hide.
/// @param coalition_size that noise is to withstand.
/// @throws ConfigError where they hide nothing from those asked for.
[[nodiscard]] SumHiding hidden_by_sums(const Topography& topography,
                                       const Membership& members,
                                       SumRules rules,
                                       int coalition_size,
                                       int further);

/// How the sums of a training are carried out; the exchanges of final gossip count as further ones
/// of a round.
[[nodiscard]] SumRules sum_rules(const PlanConfig& config,
                                 const Topography& topography,
                                 int mask_partners);

/// @throws ConfigError naming what push-sum mixing cannot be combined with: regularisation, which
/// shrinks models by other factors at agents of other weights, and noise on messages.
void require_possible_push_sum(const Topography& topography, const NoisePlan& plan, double l2);

}  // namespace sotto
