#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sotto/graph/graph.hpp"
#include "sotto/views/view_record.hpp"

namespace sotto {

/// What follows the name of a view.
struct ViewParameter {
    std::string_view placeholder;  ///< in help texts; empty: nothing follows
    std::string_view what;
    std::string_view example;
};
[[nodiscard]] ViewParameter parameter_of(ViewRecord::Takes takes);

/// "a,b,...": agents of the graph, returned ascending. @throws ConfigError for one that does not
/// exist (it says how agents are numbered) or is named twice.
[[nodiscard]] std::vector<int> parse_agent_list(std::string_view option,
                                                std::string_view text,
                                                const Graph& graph);

/// The same, or "all".
[[nodiscard]] std::vector<int> parse_agents_or_all(std::string_view option,
                                                   std::string_view text,
                                                   const Graph& graph);

/// "3", or "3 (label)" where a graph file named its agents.
[[nodiscard]] std::string label_of_agent(const Graph& graph, int agent);

/// Observers in a sentence: "Agent 3", "Agents 2, 5"; without any "Whoever sees every message".
[[nodiscard]] std::string label_of_observers(const std::vector<int>& members);

/// Why a figure holds.
struct Argument {
    std::string text;
    bool sound = false;  ///< for gradients that follow messages, or for inputs that follow none
};

/// "all messages seen"; of partial views "exact, inputs fixed in advance" where inputs do not
/// depend on messages, and "non-adaptive ([U] Theorem 8)" in a training. Figures of all messages
/// that are a view's own are called exact too where inputs are fixed.
/// @param counts_all_messages the figure is what all messages show (view_losses): of a partial view
/// "bound: all messages seen", which it cannot exceed.
[[nodiscard]] Argument argument_of(const View& view, bool fixed_inputs, bool counts_all_messages);

}  // namespace sotto
