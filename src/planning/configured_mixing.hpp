#pragma once

#include <span>
#include <string>

#include "config/config.hpp"
#include "sotto/graph/graph.hpp"
#include "sotto/graph/mixing.hpp"

namespace sotto {

/// The configured mixing of those who are there: a rule on the graph between them, a file of all.
/// "optimised" weights are for the mechanism, utility, rounds, gossip steps, coalitions and seed
/// groups of the plan's configuration, never for its budgets; for the noise of --plan FILE where
/// that is given; for private independent noise where no noise is planned (`plan` is null, or the
/// mechanism adds none). Parts of the graph that are not connected get weights of their own. With a
/// trusted mean they are Metropolis weights, which nobody uses. The last few are kept: asking again
/// for the same costs nothing.
/// @param kept places in the graph, ascending; all of them, or who is left of them.
/// @throws ConfigError for an unknown name, and for noise that no weights can be made for.
/// @throws DataError as make_mixing and read_given_plan.
[[nodiscard]] MixingMatrix configured_mixing(const GraphConfig& config,
                                             const PlanConfig* plan,
                                             const Graph& graph,
                                             std::span<const int> kept);

/// For which noise "optimised" weights are, in a sentence for people.
[[nodiscard]] std::string note_on_mixing(const PlanConfig* plan);

}  // namespace sotto
