#pragma once

#include <Eigen/Dense>
#include <array>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "core/stopwatch.hpp"
#include "sotto/graph/graph.hpp"
#include "sotto/views/view_record.hpp"
#include "training/run_subject.hpp"
#include "views/view_parameter.hpp"

namespace sotto {

/// The options of `sotto report`.
struct ReportConfig {
    std::filesystem::path directory;  ///< of the run
    TrainConfig run;                  ///< its config.ini
    /// Size of the largest coalitions that see every message; none: as largest_shown_coalition.
    std::optional<int> coalition_size;
    /// Seconds after the start at which the page stops computing figures: at half of it for what
    /// single agents learn from their neighbours, at a quarter for coalitions of them, at all of it
    /// for observers of every message.
    double time_limit = 20;
    int threads = 1;
};

/// Epsilon of every agent against every observer of one kind.
struct ObserverFigures {
    View::Kind kind = View::Kind::all_messages;
    Argument argument;
    int agents = 0;
    int smallest = 0;  ///< agents of the smallest observer; 0: the eavesdropper
    /// How many: coalitions by size, then in lexicographic order.
    long observers = 0;
    /// `agents` values per observer, one observer after the other; infinity if there is no
    /// protection; NaN for members and for agents that never took part.
    std::vector<float> epsilon;
    /// Of large_pairwise_noise: what any coalition of `bound_size` learns about every
    /// agent at most, besides.
    std::vector<float> bound;
    int bound_size = 0;
    std::string note;          ///< what is left out, and why; empty: nothing
    bool out_of_time = false;  ///< the time limit cut the figures short
};

/// Figures without observers.
[[nodiscard]] ObserverFigures blank_figures(const RecordedRun& run, View::Kind kind, int smallest);

/// Whether the accountant assumes that observers of this kind see all messages.
[[nodiscard]] bool accounted_by_all_messages(const RecordedRun& run, View::Kind kind);

/// Adds the figures of these observers, in order, until the time `until`, but at least the first
/// figures of all. The number of threads changes how many are done in time, not their values.
/// @param row epsilon of every agent against one observer; called from several threads.
void add_observers(ObserverFigures& figures,
                   const std::vector<std::vector<int>>& observers,
                   Clock::time_point until,
                   int threads,
                   const std::function<std::vector<float>(const std::vector<int>&)>& row);

/// The note when time ran out: the number of observers, and how to get the others.
[[nodiscard]] std::string out_of_time_note(const ObserverFigures& figures,
                                           long observers,
                                           double time_limit);

/// The words for observers of one kind.
struct ObserverWords {
    std::string sees;                     ///< what they see: "what their neighbours send to them"
    std::string gist;                     ///< the same in a few words, after "observers with"
    std::string nobody, one, several;     ///< who they are; `several` follows their number
    std::string one_knows, several_know;  ///< follow their names in a sentence
    /// The views of `sotto account` for none, one and several of them; empty: there is none.
    std::array<std::string, 3> names;
};
[[nodiscard]] ObserverWords observer_words(View::Kind kind, const Graph& graph);

/// The most observers whose figures a page may hold: 2 MB with 100 agents.
inline constexpr double most_observers = 7000;

/// The size of the largest coalitions that a page shows. @param asked the size asked for; none: the
/// largest with at most most_observers observers, less with many agents, where each costs more.
/// @throws ConfigError for a size that leaves nobody to learn about.
[[nodiscard]] int largest_shown_coalition(int agents, const std::optional<int>& asked);

/// Coalitions of `smallest` to `largest` agents, by size, then lexicographic.
[[nodiscard]] std::vector<std::vector<int>> coalitions_by_size(int agents,
                                                               int smallest,
                                                               int largest);

/// A square matrix drawn in colours.
struct HeatMap {
    std::string title, unit, text;
    std::string rows, columns;       ///< what they stand for
    std::vector<std::string> names;  ///< of rows and columns
    Eigen::MatrixXd values;
};
/// Of up to most_dense_agents agents, heat maps of the noise in every phase: its covariance across
/// agents, or the variance of each message if that depends on the receiver, and the covariance over
/// rounds if they are correlated (sampled above 200 rounds).
[[nodiscard]] std::vector<HeatMap> noise_pictures(const RecordedRun& run);

/// Of more agents, the noise in a phase by number of neighbours: {title, text, unit, by_degree:
/// [{degrees: [first, last], agents, variance, least, most, private, shared_streams}]}. Variances
/// are of one coordinate of a message, `private` is the mean share of noise that the agent alone
/// knows. Cost: linear in the plan. @param phases of the run; the title then says which it is.
[[nodiscard]] nlohmann::ordered_json noise_by_degree(const PrivacyPhase& phase,
                                                     std::size_t phases,
                                                     const Graph& graph);

/// The graph for the page's scripts (report/page): {description, notes, labels, edges, gone}.
/// @param gone numbers of agents that have left.
[[nodiscard]] nlohmann::ordered_json page_graph(const BuiltTopography& built,
                                                const std::vector<int>& gone);

/// Figures of one kind of observers, with its words; epsilon as base64 of 32-bit floats.
[[nodiscard]] nlohmann::ordered_json page_figures(const ObserverFigures& figures,
                                                  const Graph& graph);

/// A heat map; values row by row as base64 of 32-bit floats.
[[nodiscard]] nlohmann::ordered_json page_heat_map(const HeatMap& map);

/// Figures of the eavesdropper and of coalitions of every size shown, who see every message, until
/// the time `until`; computed as the ledger is (PrivacyLosses). Cost: an eigendecomposition per
/// observer and phase; with secretly sampled rounds also PrivacyLoss::epsilon of every agent.
/// @throws ConfigError for an impossible coalition size.
[[nodiscard]] ObserverFigures figures_of_all_messages(const RecordedRun& run,
                                                      const ReportConfig& config,
                                                      Clock::time_point until);

/// The view of an agent's neighbours in this run: sums of messages with secure sums.
[[nodiscard]] View::Kind partial_view_of(const RecordedRun& run);

/// Whether the accountant counts every partial view of the run as all messages, as the ledger does:
/// with exchanges after the last round, momentum, or secretly sampled batches.
[[nodiscard]] bool all_messages_stand_for_partial_views(const RecordedRun& run);
/// Figures of partial views of such a run. @param all figures_of_all_messages.
[[nodiscard]] ObserverFigures figures_as_of_all_messages(const RecordedRun& run,
                                                         const ObserverFigures& all);

/// Figures of what agents, then coalitions, learn from the messages of their neighbours, as `sotto
/// account` computes them: single agents until `until`, coalitions until `coalitions_until`. Cost:
/// view_sensitivity of every observer.
/// @throws ConfigError for runs that are too long, and as account_subject_of.
[[nodiscard]] ObserverFigures figures_of_partial_views(const RecordedRun& run,
                                                       const ReportConfig& config,
                                                       Clock::time_point until,
                                                       Clock::time_point coalitions_until);

/// Figures of all observers that a page shows: those who see every message, then partial views.
/// Figures that the accountant cannot compute, or not within config.time_limit seconds of `start`,
/// are left out, and `note` says why.
/// @throws ConfigError for an impossible coalition size.
[[nodiscard]] std::vector<ObserverFigures> report_figures(const RecordedRun& run,
                                                          const ReportConfig& config,
                                                          Clock::time_point start);

/// The computed part of a run's page: graph, noise, and what observers learn.
struct ReportAccount {
    nlohmann::ordered_json graph;  ///< null if unknown
    nlohmann::ordered_json views = nlohmann::ordered_json::array();
    nlohmann::ordered_json pictures = nlohmann::ordered_json::array();
    long observers = 0;                 ///< number of observers with figures
    std::vector<std::string> missing;   ///< what the run's files do not give, and why
    std::vector<std::string> left_out;  ///< for lack of time, and how to get it
    double seconds = 0;                 ///< how long it took
};

/// Computes until config.time_limit seconds after `start`. For an audit without a history it gives
/// only the graph.
/// @throws ConfigError for an impossible coalition size.
[[nodiscard]] ReportAccount report_account(const ReportConfig& config, Clock::time_point start);

}  // namespace sotto
