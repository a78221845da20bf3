#pragma once

#include <Eigen/Core>
#include <optional>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "design/shaped_factor.hpp"
#include "graph/topography.hpp"
#include "net/message_precision.hpp"
#include "sotto/privacy/budget.hpp"

namespace sotto {

/// One cycle of --participation cyclic-poisson:auto and its plan's noise.
struct CycleCandidate {
    long cycle = 1;
    long band = 0;     ///< B of its temporal factor; 0: independent rounds
    double noise = 0;  ///< Tr(M R), or Tr(H (X_time^-1 (x) R)), at the budget [gradient unit^2]
};

/// The choice of b for --participation cyclic-poisson:auto; without candidates, it was not
/// requested.
struct CycleChoice {
    std::vector<CycleCandidate> candidates;  ///< ascending; the first is b = 1
    std::size_t chosen = 0;
    [[nodiscard]] const CycleCandidate& best() const { return candidates[chosen]; }
};

/// Sets b of this candidate, and its band if the mechanism takes a temporal factor.
[[nodiscard]] PlanConfig with_cycle(PlanConfig config, const CycleCandidate& candidate);

/// Plans for b = 1, 2, 4, ... and for the largest b that the rounds and every agent's probability b
/// q_u <= 1 allow. Chooses the plan with the least noise at the budget, and the first of equals.
/// Mechanisms that take a temporal factor get the widest band that separates a record's rounds, b -
/// 1, or that of --temporal banded:B if it is narrower; b = 1 means independent rounds.
/// @param config with any cycle.  @param records of every agent; empty: not known.
/// @throws ConfigError if there is no budget to plan for (--noise-std, --plan, a mechanism without
/// noise), for --temporal one-lag, and as planning throws.
/// Cost: a plan for each b; for mechanisms with independent rounds only if agents' shares of the
/// noise differ.
[[nodiscard]] CycleChoice choose_cycle(const PlanConfig& config,
                                       const Topography& topography,
                                       const std::vector<Eigen::Index>& records);

/// "b = 8 leaves least noise: ..."; empty if nothing was chosen.
[[nodiscard]] std::string text_of(const CycleChoice& choice);

/// One K of --gossip-steps and its plan's noise.
struct GossipCandidate {
    int steps = 1;
    double noise = 0;  ///< Tr(M R) at kappa 1
    /// What rounding to nibbles would add to that, about: 0.06 s mean_u(R_uu) (1 - 1/n), where
    /// D^2/12 is 0.03 of the squared motion of messages, that is 2 R_uu, and s is what the utility
    /// counts for noise off the mean that one exchange removes.
    double rounding = 0;
    double bytes = 0;  ///< sent by all agents in the rounds
};

/// The choice of K for --gossip-steps auto; without candidates, it was not requested.
struct GossipChoice {
    std::vector<GossipCandidate> candidates;  ///< those planned for, ascending
    int chosen = 1;                           ///< K
    double wanted = 0;                        ///< noise that K had to reach
    double trusted = 0;                       ///< of a trusted aggregator
    bool limited = false;                     ///< by bytes, or by most_gossip_steps
    GossipRule gossip = GossipRule::plain;    ///< weights of the exchanges
    MessagePrecision precision = MessagePrecision::float64;
    /// The candidate of K. Precondition: there are candidates.
    [[nodiscard]] const GossipCandidate& best() const;
};

/// The largest K that is tried.
inline constexpr int most_gossip_steps = 256;

/// The least K whose planned noise is within a tenth of the trusted aggregator's. If the mechanism
/// cannot reach that, the noise must be within a tenth of what the mechanism leaves when a round's
/// exchanges reduce any disagreement to a hundredth; above 200 agents K is that of these exchanges,
/// without a search. At most what --max-bytes allows or, without
/// it, what one exchange of messages of `usual_bytes` sends, if those are longer.
/// @param config with any K.  @param records of every agent; empty: not known.
/// @param message_bytes of one message.
/// @throws as planning. Cost: about twice log2 K plans.
[[nodiscard]] GossipChoice choose_gossip_steps(const PlanConfig& config,
                                               const Topography& topography,
                                               const std::vector<Eigen::Index>& records,
                                               double message_bytes,
                                               double usual_bytes = 0);

/// Largest R_uu kappa_u of plans for nibbles. What is rounded away is a part of single messages'
/// noise, and does not cancel as noise that agents share does. Where that cancels nearly all of it,
/// as on a complete graph, the best plan without rounding would be as loud as it may.
inline constexpr double variance_cap_of_nibbles = 10;

/// What choose_exchanges() may choose.
struct OpenExchanges {
    bool steps = false;   ///< K
    bool gossip = false;  ///< the weights, with K
    bool precision = false;
};

/// Exchanges of a round within the bytes of one exchange of float64. K as choose_gossip_steps.
/// Chebyshev weights if K is not limited
/// with them; otherwise those of Chebyshev, plain and (not with nibbles) optimal ones that leave
/// least noise; plain ones if the mixing matrix is not symmetric, or K = 1. Nibbles, unless noise
/// and rounding are then above 1.25 times the noise with float32.
/// @param precision to choose for; if it is open, nibble, where they are possible.
/// @throws as planning. Cost: up to five times that of choose_gossip_steps.
[[nodiscard]] GossipChoice choose_exchanges(const PlanConfig& config,
                                            const Topography& topography,
                                            const std::vector<Eigen::Index>& records,
                                            long dimension,
                                            MessagePrecision precision,
                                            OpenExchanges open);

/// Plans for K = 1, 2, 4 and 8, to show to the user. @throws as planning. Cost: four plans.
[[nodiscard]] std::vector<GossipCandidate> compare_gossip_steps(
    const PlanConfig& config,
    const Topography& topography,
    const std::vector<Eigen::Index>& records,
    double message_bytes);

/// "K = 4: ..."; empty if nothing was chosen.
[[nodiscard]] std::string text_of(const GossipChoice& choice);

/// The shape of --temporal auto (affordable_shape). Empty if it is not open: the configuration
/// names one or has a plan already, or its mechanism takes none. With an open cycle it is the
/// widest band that agents can afford, which choose_cycle narrows.
/// @param records of every agent, used if batches are all of them; empty: not known.
/// @param dimension d.  @throws as affordable_shape.
[[nodiscard]] ShapeChoice choose_temporal(const AskedPlan& config,
                                          const Topography& topography,
                                          const std::vector<Eigen::Index>& records,
                                          long dimension);

/// Whether the configuration leaves the shape to choose_temporal.
[[nodiscard]] bool leaves_shape_open(const AskedPlan& config);

/// How open values were chosen, for the user. A choice has no candidates if it was not open.
struct PlanChoices {
    ShapeChoice temporal;  ///< none with a chosen cycle, which has its own band
    CycleChoice cycle;
    GossipChoice gossip;
};

/// The factor by which secretly sampled batches reduce an agent's noise on gradients, compared with
/// records that count in every round. The budget is that of count_sampling without earlier losses.
/// Nothing if no epsilon was requested.
[[nodiscard]] std::optional<double> sampling_gain(const PlanConfig& config,
                                                  const PrivacyBudget& budget);

/// The factor by which --adjacency record-add-remove and --participation poisson would reduce the
/// configured noise; above 1 000 000 rounds, a lower bound. Nothing if they change nothing or are
/// impossible.
/// @param exposure as configured.  @param records of the agent, at least its batch.
/// Cost: a tenth of a second; for a million rounds half a second.
[[nodiscard]] std::optional<double> gain_of_switching(const PlanConfig& config,
                                                      const PrivacyBudget& budget,
                                                      const Exposure& exposure,
                                                      Eigen::Index records);

/// The same as a sentence on the agent that gains least. Cost: as gain_of_switching.
/// @param records of every agent; empty: not known.
[[nodiscard]] std::vector<std::string> sampling_statements(
    const PlanConfig& config,
    const std::vector<Exposure>& exposures,
    const std::vector<PrivacyBudget>& budgets,
    const std::vector<Eigen::Index>& records);

}  // namespace sotto
