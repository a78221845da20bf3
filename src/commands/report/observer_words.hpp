#pragma once

#include <array>
#include <string>

#include "sotto/graph/graph.hpp"
#include "sotto/views/view.hpp"

namespace sotto {

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

}  // namespace sotto
