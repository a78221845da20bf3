#include "views/view_parameter.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <string>

#include "sotto/core/names.hpp"

namespace sotto {

ViewParameter parameter_of(ViewRecord::Takes takes) {
    switch (takes) {
        case ViewRecord::Takes::nothing:
            break;
        case ViewRecord::Takes::one_agent:
            return {"a", "agents", "0"};
        case ViewRecord::Takes::agents:
            return {"a,b", "agents", "0,3"};
        case ViewRecord::Takes::size:
            return {"q", "a number of agents", "2"};
    }
    return {};
}

namespace {

/// Labels differ from numbers if a graph file named its agents.
std::string numbering_of(const Graph& graph, std::string_view word) {
    const int last = graph.agents() - 1;
    if (graph.label(0) == "0" && graph.label(last) == std::to_string(last)) return {};
    std::string text =
        fmt::format("; agents are numbered by ascending label: 0 is '{}', {} is '{}'",
                    graph.label(0),
                    last,
                    graph.label(last));
    for (int u = 0; u < graph.agents(); ++u)
        if (graph.label(u) == word) text += fmt::format("; label '{}' is agent {}", word, u);
    return text;
}

int parse_agent(std::string_view option, std::string_view word, const Graph& graph) {
    long long agent = -1;
    try {
        agent = parse_integer(option, word);
    } catch (const ConfigError& error) {
        throw ConfigError(error.what() + numbering_of(graph, word));
    }
    if (agent < 0 || agent >= graph.agents())
        throw ConfigError(fmt::format("{}: agent {} does not exist (allowed: 0 to {}{})",
                                      option,
                                      agent,
                                      graph.agents() - 1,
                                      numbering_of(graph, word)));
    return static_cast<int>(agent);
}

}  // namespace

std::vector<int> parse_agent_list(std::string_view option,
                                  std::string_view text,
                                  const Graph& graph) {
    std::vector<int> agents;
    for (const auto word : split(text, ',')) agents.push_back(parse_agent(option, word, graph));
    std::ranges::sort(agents);
    const auto repeated = std::ranges::adjacent_find(agents);
    if (repeated != agents.end())
        throw ConfigError(
            fmt::format("{}: agent {} is named twice (name every agent once)", option, *repeated));
    return agents;
}

std::vector<int> parse_agents_or_all(std::string_view option,
                                     std::string_view text,
                                     const Graph& graph) {
    if (text != "all") return parse_agent_list(option, text, graph);
    std::vector<int> all(static_cast<std::size_t>(graph.agents()));
    std::iota(all.begin(), all.end(), 0);
    return all;
}

std::string label_of_agent(const Graph& graph, int agent) {
    const std::string number = std::to_string(agent);
    const std::string& label = graph.label(agent);
    return label == number ? number : fmt::format("{} ({})", number, label);
}

std::string label_of_observers(const std::vector<int>& members) {
    if (members.empty()) return "Whoever sees every message";
    return fmt::format("Agent{} {}", members.size() == 1 ? "" : "s", fmt::join(members, ", "));
}

Argument argument_of(const View& view, Inputs inputs, bool counts_all_messages) {
    const bool all = view.sound_for_training();
    if (counts_all_messages) return {all ? "all messages seen" : "bound: all messages seen", true};
    if (inputs == Inputs::fixed) return {"exact, inputs fixed in advance", true};
    if (inputs == Inputs::convex && !all) return {"bound: convex and smooth losses", true};
    return {all ? "all messages seen" : "non-adaptive ([U] Theorem 8)", all};
}

}  // namespace sotto
