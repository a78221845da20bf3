#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/stopwatch.hpp"
#include "sotto/graph/graph.hpp"
#include "sotto/views/view_record.hpp"
#include "training/run_subject.hpp"
#include "views/view_parameter.hpp"

namespace sotto {

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

}  // namespace sotto
