#pragma once

#include <span>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "graph/topography.hpp"
#include "sotto/graph/graph.hpp"
#include "sotto/graph/mixing.hpp"

namespace sotto {

/// The configured graph and mixing matrix, and what there is to say about how they came about.
struct BuiltTopography {
    Topography topography;
    std::string description;         ///< "erdos-renyi p=0.5 (seed 0)", "file x.edges"
    std::vector<std::string> notes;  ///< reductions and retries a user should know
};
/// @param plan what the run's noise is: weights may be made for it, and a random schedule draws as
/// many graphs as there are rounds.
/// @throws ConfigError, DataError.
[[nodiscard]] BuiltTopography build_topography(const GraphConfig& config, const PlanConfig& plan);
/// Where no noise is planned.
[[nodiscard]] BuiltTopography build_topography(const GraphConfig& config, long rounds);

/// How many mixing matrices there can be: one where mixing is fixed, else one a round, or as many
/// as the schedule's file has room for.
[[nodiscard]] double most_mixing_matrices(const GraphConfig& config, long rounds);

/// Number of agents of the configured graph; reads its file where there is one.
[[nodiscard]] int agents_of(const GraphConfig& config);

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

/// What `sotto graph` says about a graph and its mixing matrix.
struct GraphReport {
    std::string description;         ///< as BuiltTopography
    std::vector<std::string> notes;  ///< as BuiltTopography
    std::string mixing;              ///< rule or file, as the user names it
    int agents = 0;
    std::size_t edges = 0;
    bool connected = false;
    bool directed = false;
    int degree_min = 0, degree_max = 0;  ///< agents that one hears
    /// Smallest and largest n pi_u (perron_vector): 1 where all count alike in what is learnt.
    double perron_min = 1, perron_max = 1;
    double lambda2 = 0;  ///< second largest eigenvalue of the mixing matrix, by modulus
    bool doubly_stochastic = false, push_sum = false;
    std::string graph_hash;  ///< hexadecimal
};

/// Cost: that of second_eigenvalue_modulus and perron_vector.
[[nodiscard]] GraphReport describe_graph(const BuiltTopography& built, std::string mixing);

/// The JSON object of `sotto graph` (docs/cli.md), as text, and the same for people.
[[nodiscard]] std::string graph_report_json(const GraphReport& report);
[[nodiscard]] std::string graph_report_text(const GraphReport& report);

}  // namespace sotto
