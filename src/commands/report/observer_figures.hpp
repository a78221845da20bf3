#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sotto/core/stopwatch.hpp"
#include "sotto/views/argument.hpp"
#include "sotto/views/view.hpp"
#include "training/run_subject.hpp"

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

}  // namespace sotto
