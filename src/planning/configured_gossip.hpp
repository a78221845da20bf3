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

/// The polynomial that a round's exchanges apply to its messages; K must be chosen. With exact
/// diffusion it has the least laziness with which that is stable.
/// @throws ConfigError for Chebyshev or optimal weights on a matrix that is not symmetric.
[[nodiscard]] GossipPolynomial configured_gossip(const PlanConfig& config,
                                                 const MixingMatrix& mixing);

/// Exchanges of messages in a round; K must be chosen.
[[nodiscard]] int exchanges_of(const PlanConfig& config);

/// The exchanges that reduce the differences between agents to this part, with Chebyshev weights if
/// W is symmetric; at most `most`.
[[nodiscard]] GossipPolynomial consensus_gossip(const MixingMatrix& mixing,
                                                double difference,
                                                int most);

/// L of --final-gossip. If it is open: as many exchanges as reduce the differences between agents'
/// models to at most a twentieth, but at most a twentieth of all exchanges of the training (and
/// one). 0 with a mixing schedule, with --plan, and if messages are not mixed.
[[nodiscard]] int final_gossip_steps(const PlanConfig& config, const MixingSchedule& mixing);

/// The exchanges of models beside those of rounds, as views count them: L, and at least 1 with a
/// preconditioner. Partial views have no figures of their own unless it is 0.
[[nodiscard]] int exchanges_beside_rounds(const PlanConfig& config, const MixingSchedule& mixing);

/// The configured smoothing beside mixing. Exchanges of final gossip have Chebyshev weights if W is
/// symmetric.
[[nodiscard]] Smoothing configured_smoothing(const PlanConfig& config,
                                             const Topography& topography);

/// @throws ConfigError for impossible combinations: optimal gossip with noise on messages or a
/// trusted mean; gossip with Chebyshev weights, momentum,
/// averaging or final gossip with a mixing schedule; momentum or final gossip with noise on
/// messages; momentum with noise that is correlated over rounds; corrections as
/// require_possible_correction.
void require_possible_smoothing(const PlanConfig& config, const Topography& topography);

/// Whether neighbours mix the messages and noise also hides the mixed models.
[[nodiscard]] bool mixes_hidden_models(const PlanConfig& config);

/// Largest coalition for which reports state what secure sums hide.
inline constexpr int colluders_to_tell_of = 4;

/// What secure sums hide from the required number of colluders, at least one, and for reports from
/// up to `further`; agents by number. LOCAL. Cost: what_sums_hide.
/// @param coalition_size that noise must withstand.
/// @throws ConfigError if sums hide nothing from the required number.
[[nodiscard]] SumHiding hidden_by_sums(const Topography& topography,
                                       const Membership& members,
                                       SumRules rules,
                                       int coalition_size,
                                       int further);

/// How secure sums of a training are computed. Exchanges of final gossip count as additional
/// exchanges of a round. @throws ConfigError for optimal gossip.
[[nodiscard]] SumRules sum_rules(const PlanConfig& config,
                                 const Topography& topography,
                                 int mask_partners);

/// @throws ConfigError naming what push-sum mixing cannot be combined with: noise on messages, and
/// regularisation, which would shrink models by different factors at agents of different weights.
void require_possible_push_sum(const Topography& topography, const NoisePlan& plan, double l2);

}  // namespace sotto
