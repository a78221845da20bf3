#pragma once

#include <Eigen/Dense>
#include <span>
#include <string>
#include <vector>

#include "agent/liars.hpp"
#include "agent/robust_mixing.hpp"
#include "net/network.hpp"
#include "sotto/plan/membership.hpp"
#include "training/run.hpp"

namespace sotto {

/// @throws ConfigError naming what is not possible with --robust, or with agents that lie.
void require_possible_lies(const Run& run);

/// What every agent of the run does to its messages; empty if all are honest.
[[nodiscard]] LiesByPlace lies_by_place(const Run& run);

/// Of the local agents of a run with --robust. @param rings theirs.  @param dimension of a model.
[[nodiscard]] SharedNoiseCheck shared_noise_check(const Run& run,
                                                std::span<const KeyRing> rings,
                                                Eigen::Index dimension);

/// An agent that some of its neighbours suspect.
struct SuspectedAgent {
    int number = 0;
    int by = 0;           ///< neighbours that suspect it
    int neighbours = 0;   ///< that compared its messages
    int lacks_noise = 0;  ///< of those that suspect it: its messages lack the noise that both share
    [[nodiscard]] bool operator==(const SuspectedAgent&) const = default;
};

/// Of all agents that a neighbour suspects, the same on every process. COLLECTIVE. An agent's word
/// on others is no proof: liars may accuse honest agents, so read how many say so.
/// @param local what the local agents noticed.
[[nodiscard]] std::vector<SuspectedAgent> gather_suspected(Network& network,
                                                           const Membership& members,
                                                           const std::vector<Suspicion>& local);

/// A sentence that names them; empty if there are none.
[[nodiscard]] std::string text_of_suspected(const std::vector<SuspectedAgent>& suspected);

}  // namespace sotto
