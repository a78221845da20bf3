#pragma once

#include <span>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "graph/topography.hpp"
#include "sotto/graph/graph.hpp"
#include "sotto/graph/mixing.hpp"

namespace sotto {

/// The configured graph and mixing matrix, and how they were made.
struct BuiltTopography {
    Topography topography;
    std::string description;         ///< "erdos-renyi p=0.5 (seed 0)", "file x.edges"
    std::vector<std::string> notes;  ///< retries and reductions that concern the user
};
/// @param plan determines weights that are made for its noise, and the number of graphs in a random
/// schedule: one per round. @throws ConfigError, DataError.
[[nodiscard]] BuiltTopography build_topography(const GraphConfig& config, const PlanConfig& plan);
/// The same if no noise is planned.
[[nodiscard]] BuiltTopography build_topography(const GraphConfig& config, long rounds);

/// Largest possible number of mixing matrices: one if mixing is fixed, else one per round, or as
/// many as fit into the schedule's file.
[[nodiscard]] double most_mixing_matrices(const GraphConfig& config, long rounds);

/// Number of agents of the configured graph; reads its file if there is one.
[[nodiscard]] int agents_of(const GraphConfig& config);

/// The configured mixing of the remaining agents: a rule on the graph between them, or a file for
/// all agents. "optimised" weights depend on the mechanism, utility, rounds, gossip steps,
/// coalitions and seed groups of the plan's configuration, never on its budgets. With --plan FILE
/// they are for the noise of that file; without noise (`plan` is null, or the mechanism adds none)
/// for private independent noise. Unconnected parts of the graph get weights of their own. A
/// trusted mean uses no weights; they are then Metropolis weights. The last few results are cached.
/// @param kept places in the graph, ascending; all, or those of the remaining agents.
/// @throws ConfigError for an unknown name, and for noise that no weights can be made for;
/// DataError as make_mixing and read_given_plan.
[[nodiscard]] MixingMatrix configured_mixing(const GraphConfig& config,
                                             const PlanConfig* plan,
                                             const Graph& graph,
                                             std::span<const int> kept);

/// A sentence on the noise for which "optimised" weights are made.
[[nodiscard]] std::string note_on_mixing(const PlanConfig* plan);

/// Content of `sotto graph` on a graph and its mixing matrix.
struct GraphReport {
    std::string description;         ///< as BuiltTopography
    std::vector<std::string> notes;  ///< as BuiltTopography
    std::string mixing;              ///< rule or file, as the user names it
    int agents = 0;
    std::size_t edges = 0;
    bool connected = false;
    bool directed = false;
    int degree_min = 0, degree_max = 0;  ///< neighbours from which an agent receives
    /// Smallest and largest n pi_u (perron_vector): 1 if all agents have equal weight in the
    /// result.
    double perron_min = 1, perron_max = 1;
    double lambda2 = 0;  ///< second largest eigenvalue of the mixing matrix, by modulus
    bool doubly_stochastic = false, push_sum = false;
    std::string graph_hash;  ///< hexadecimal
};

/// Cost: that of second_eigenvalue_modulus and perron_vector.
[[nodiscard]] GraphReport describe_graph(const BuiltTopography& built, std::string mixing);

/// The JSON object of `sotto graph` (docs/cli.md), and its text report.
[[nodiscard]] std::string graph_report_json(const GraphReport& report);
[[nodiscard]] std::string graph_report_text(const GraphReport& report);

}  // namespace sotto
