#pragma once

#include <Eigen/Core>
#include <optional>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "design/shaped_factor.hpp"
#include "graph/topography.hpp"
#include "sotto/privacy/budget.hpp"

namespace sotto {

/// One cycle of --participation cyclic-poisson:auto, and what its plan leaves.
struct CycleCandidate {
    long cycle = 1;
    long band = 0;     ///< B of its temporal factor; 0: independent rounds
    double noise = 0;  ///< Tr(M R), or Tr(H (X_time^-1 (x) R)), at the budget [gradient unit^2]
};

/// How b of --participation cyclic-poisson:auto was chosen; without candidates it was not asked
/// for.
struct CycleChoice {
    std::vector<CycleCandidate> candidates;  ///< ascending; the first is b = 1
    std::size_t chosen = 0;
    [[nodiscard]] const CycleCandidate& best() const { return candidates[chosen]; }
};

/// With b of this candidate, and its band where the mechanism takes a temporal factor.
[[nodiscard]] PlanConfig with_cycle(PlanConfig config, const CycleCandidate& candidate);

/// Plans for b = 1, 2, 4, ... and for the largest b that every agent's probability b q_u <= 1 and
/// the rounds allow, and takes the one that leaves least noise at the budget; of equals the first.
/// Mechanisms that take a temporal factor get the widest band that keeps a record's rounds apart,
/// b - 1, or that of --temporal banded:B if it is narrower; b = 1 stands for independent rounds.
/// @param config with any cycle.  @param records of every agent; empty: not known.
/// @throws ConfigError where there is no budget to plan for (--noise-std, --plan, a mechanism
/// without noise), for --temporal one-lag, and as planning throws.
/// Cost: a plan for each b; of mechanisms with independent rounds only where agents' shares of the
/// noise differ.
[[nodiscard]] CycleChoice choose_cycle(const PlanConfig& config,
                                       const Topography& topography,
                                       const std::vector<Eigen::Index>& records);

/// "b = 8 leaves least noise: ..." in words; empty where nothing was chosen.
[[nodiscard]] std::string text_of(const CycleChoice& choice);

/// One K of --gossip-steps, and what its plan leaves.
struct GossipCandidate {
    int steps = 1;
    double noise = 0;  ///< Tr(M R) at kappa 1
    double bytes = 0;  ///< that all agents send in the rounds
};

/// How K of --gossip-steps auto was chosen; without candidates it was not asked for.
struct GossipChoice {
    std::vector<GossipCandidate> candidates;  ///< those planned for, ascending
    int chosen = 1;                           ///< K
    double wanted = 0;                        ///< noise that K was to come down to
    double trusted = 0;                       ///< of a trusted aggregator
    bool limited = false;                     ///< by --max-bytes, or by most_gossip_steps
};

/// The largest K that is tried.
inline constexpr int most_gossip_steps = 256;

/// The least K whose planned noise is within a tenth of the trusted aggregator's, or, where the
/// mechanism cannot come that near, of what it leaves when the exchanges of a round leave a
/// hundredth of any disagreement; at most what --max-bytes allows.
/// @param config with any K.  @param records of every agent; empty: not known.
/// @param message_bytes of one message, which --max-bytes counts.
/// @throws as planning. Cost: about twice log2 K plans.
[[nodiscard]] GossipChoice choose_gossip_steps(const PlanConfig& config,
                                               const Topography& topography,
                                               const std::vector<Eigen::Index>& records,
                                               double message_bytes);

/// Plans for K = 1, 2, 4 and 8, for people to choose from. @throws as planning. Cost: four plans.
[[nodiscard]] std::vector<GossipCandidate> compare_gossip_steps(
    const PlanConfig& config,
    const Topography& topography,
    const std::vector<Eigen::Index>& records,
    double message_bytes);

/// "K = 4: ..." in words; empty where nothing was chosen.
[[nodiscard]] std::string text_of(const GossipChoice& choice);

/// The shape of --temporal auto (affordable_shape); empty where the configuration leaves none open:
/// it names one, has a plan already, or its mechanism takes none. With an open cycle the widest
/// band that agents can afford, which choose_cycle narrows.
/// @param records of every agent, which count where batches are all of them; empty: not known.
/// @param dimension d.
/// @throws as affordable_shape.
[[nodiscard]] ShapeChoice choose_temporal(const AskedPlan& config,
                                          const Topography& topography,
                                          const std::vector<Eigen::Index>& records,
                                          long dimension);

/// Whether that has a shape to choose.
[[nodiscard]] bool leaves_shape_open(const AskedPlan& config);

/// How what was open was chosen, for people; each without candidates where it was not open.
struct PlanChoices {
    ShapeChoice temporal;  ///< of a cycle that was chosen none: it brings its own band
    CycleChoice cycle;
    GossipChoice gossip;
};

/// How many times less noise an agent adds to its gradients because its batches are sampled in
/// secret, than if each of its records counted in every round; the budget as count_sampling leaves
/// it, where nothing was spent before. Nothing where no epsilon was asked for.
[[nodiscard]] std::optional<double> sampling_gain(const PlanConfig& config,
                                                  const PrivacyBudget& budget);

/// How many times less noise it would add with --adjacency record-add-remove and --participation
/// poisson than as configured; of more than 1 000 000 rounds no more than that. Nothing where
/// these change nothing or are impossible.
/// @param exposure as configured.  @param records of the agent, at least its batch.
/// Cost: a tenth of a second, of a million rounds half a one.
[[nodiscard]] std::optional<double> gain_of_switching(const PlanConfig& config,
                                                      const PrivacyBudget& budget,
                                                      const Exposure& exposure,
                                                      Eigen::Index records);

/// The same in words, of the agent that gains least. Cost: as gain_of_switching.
/// @param records of every agent; empty: not known.
[[nodiscard]] std::vector<std::string> sampling_statements(
    const PlanConfig& config,
    const std::vector<Exposure>& exposures,
    const std::vector<PrivacyBudget>& budgets,
    const std::vector<Eigen::Index>& records);

}  // namespace sotto
