#pragma once

#include <string>
#include <vector>

#include "run/run_subject.hpp"
#include "sotto/views/argument.hpp"
#include "sotto/views/view.hpp"

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
    std::string note;  ///< what is left out, and why; empty: nothing
};

/// Of no observer yet.
[[nodiscard]] ObserverFigures blank_figures(const RecordedRun& run, View::Kind kind, int smallest);

}  // namespace sotto
