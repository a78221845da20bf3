#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "sotto/graph/topography.hpp"
#include "sotto/net/network.hpp"

namespace sotto {

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
/// @param config with choose_gossip_steps.  @param records of every agent; empty: not known.
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

/// A configuration that leaves no K open.
struct AgreedGossip {
    PlanConfig config;
    GossipChoice choice;  ///< on processes that solve plans
};
/// Process 0's choice, where this process leaves it open. COLLECTIVE.
/// @param dimension d; messages have the network's precision.
/// @param solves this process solves plans, and chooses for itself.
/// @throws as choose_gossip_steps; NetworkError where two processes chose differently, or process 0
/// chose nothing; the same on every process.
[[nodiscard]] AgreedGossip agree_on_gossip(PlanConfig config,
                                           Network& network,
                                           const Topography& topography,
                                           const std::vector<Eigen::Index>& records,
                                           long dimension,
                                           bool solves);

/// "K = 4: ..." in words; empty where nothing was chosen.
[[nodiscard]] std::string text_of(const GossipChoice& choice);

}  // namespace sotto
