#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sotto/graph/graph.hpp"
#include "sotto/views/view_record.hpp"
#include "sotto/views/view_sensitivity.hpp"

namespace sotto {

/// Parameter after the name of a view.
struct ViewParameter {
    std::string_view placeholder;  ///< in help texts; empty without a parameter
    std::string_view what;
    std::string_view example;
};
[[nodiscard]] ViewParameter parameter_of(ViewRecord::Takes takes);

/// Parses "a,b,...", agents of the graph; returned ascending.
/// @throws ConfigError for an unknown agent (with the numbering of agents) or a repeated one.
[[nodiscard]] std::vector<int> parse_agent_list(std::string_view option,
                                                std::string_view text,
                                                const Graph& graph);

/// The same, or "all".
[[nodiscard]] std::vector<int> parse_agents_or_all(std::string_view option,
                                                   std::string_view text,
                                                   const Graph& graph);

/// "3", or "3 (label)" if a graph file named its agents.
[[nodiscard]] std::string label_of_agent(const Graph& graph, int agent);

/// Observers in a sentence: "Agent 3", "Agents 2, 5", or "Whoever sees every message".
[[nodiscard]] std::string label_of_observers(const std::vector<int>& members);

/// Justification of a figure.
struct Argument {
    std::string text;
    bool sound = false;  ///< for gradients that depend on messages, or for inputs that do not
};

/// "all messages seen"; for partial views "exact, inputs fixed in advance" if inputs do not depend
/// on messages, "bound: convex and smooth losses" for those, and "non-adaptive ([U] Theorem 8)" in
/// any other training. A figure of all messages is also
/// called exact if inputs are fixed and it is the view's own.
/// @param counts_all_messages the figure is that of all messages (view_losses): for a partial view
/// "bound: all messages seen".
[[nodiscard]] Argument argument_of(const View& view, Inputs inputs, bool counts_all_messages);

}  // namespace sotto
