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

/// Epsilon of every agent against every observer of one kind, by the accountant.
struct ObserverFigures {
    View::Kind kind = View::Kind::all_messages;
    Argument argument;
    int agents = 0;
    int smallest = 0;  ///< agents of the smallest observer; 0: the eavesdropper
    /// Observers: coalitions by size, those of one size in lexicographic order.
    long observers = 0;
    /// agents of every observer, one observer after the other; infinity where the protection is
    /// broken; NaN for members and for agents that were never there.
    std::vector<float> epsilon;
    std::string note;          ///< what is left out, and why; empty: nothing
    bool out_of_time = false;  ///< more would be here if there were more time
};

/// Of no observer yet.
[[nodiscard]] ObserverFigures blank_figures(const RecordedRun& run, View::Kind kind, int smallest);

/// Whether the accountant takes what all messages show for what observers of this kind see.
[[nodiscard]] bool accounted_by_all_messages(const RecordedRun& run, View::Kind kind);

/// Adds the figures of these observers, in their order, until that time; of the first of all
/// whatever it takes. They do not depend on the number of threads, how many there are does.
/// @param row epsilon of every agent against one observer; called from several threads.
void add_observers(ObserverFigures& figures,
                   const std::vector<std::vector<int>>& observers,
                   Clock::time_point until,
                   int threads,
                   const std::function<std::vector<float>(const std::vector<int>&)>& row);

/// What is said where time was over: the number of observers, and how to have the others.
[[nodiscard]] std::string out_of_time_note(const ObserverFigures& figures,
                                           long observers,
                                           double time_limit);

/// How a page speaks of observers of one kind.
struct ObserverWords {
    std::string sees;                     ///< what they see: "what their neighbours send to them"
    std::string gist;                     ///< the same in few words, behind "observers with"
    std::string nobody, one, several;     ///< who they are; behind a number of several agents
    std::string one_knows, several_know;  ///< behind their names in a sentence
    /// What `sotto account` calls none, one and several of them; empty: it has no name for those.
    std::array<std::string, 3> names;
};
[[nodiscard]] ObserverWords observer_words(View::Kind kind, const Graph& graph);

/// Observers whose figures a page may hold: with 100 agents 2 MB.
inline constexpr double most_observers = 7000;

/// Size of the largest coalitions a page shows. @param asked for; none: the largest for which there
/// are no more than most_observers, or fewer where many agents make each of them much work.
/// @throws ConfigError for a size that leaves nobody to learn about.
[[nodiscard]] int largest_shown_coalition(int agents, const std::optional<int>& asked);

/// Coalitions of `smallest` to `largest` agents, by size, then lexicographic.
[[nodiscard]] std::vector<std::vector<int>> coalitions_by_size(int agents,
                                                               int smallest,
                                                               int largest);

}  // namespace sotto
