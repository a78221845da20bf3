#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "sotto/graph/topography.hpp"
#include "sotto/net/network.hpp"

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
/// @param config with choose_cycle.  @param records of every agent; empty: not known.
/// @throws ConfigError where there is no budget to plan for (--noise-std, --plan, a mechanism
/// without noise), for --temporal one-lag, and as planning throws.
/// Cost: a plan for each b; of mechanisms with independent rounds only where agents' shares of the
/// noise differ.
[[nodiscard]] CycleChoice choose_cycle(const PlanConfig& config,
                                       const Topography& topography,
                                       const std::vector<Eigen::Index>& records);

/// A configuration that leaves no b open.
struct AgreedCycle {
    PlanConfig config;
    CycleChoice choice;  ///< on processes that solve plans
};
/// Process 0's choice, where this process leaves it open. COLLECTIVE.
/// @param solves this process solves plans, and chooses for itself.
/// @throws as choose_cycle; NetworkError where two processes chose differently, or process 0 chose
/// nothing; the same on every process.
[[nodiscard]] AgreedCycle agree_on_cycle(PlanConfig config,
                                         Network& network,
                                         const Topography& topography,
                                         const std::vector<Eigen::Index>& records,
                                         bool solves);

/// "b = 8 leaves least noise: ..." in words; empty where nothing was chosen.
[[nodiscard]] std::string text_of(const CycleChoice& choice);

}  // namespace sotto
