#include "sotto/views/view_query.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "sotto/core/names.hpp"

namespace sotto {

namespace {

constexpr NameTable<ViewQuery::Kind, 8> kinds{
    {{{ViewQuery::Kind::eavesdropper, "eavesdropper"},
      {ViewQuery::Kind::node, "node"},
      {ViewQuery::Kind::coalition, "coalition"},
      {ViewQuery::Kind::secure_sum, "secure-sum"},
      {ViewQuery::Kind::all_messages, "all-messages"},
      {ViewQuery::Kind::all_nodes, "all-nodes"},
      {ViewQuery::Kind::worst_coalition, "worst-coalition"},
      {ViewQuery::Kind::worst_all_messages, "worst-all-messages"}}}};

bool names_agents(ViewQuery::Kind kind) {
    return kind == ViewQuery::Kind::node || kind == ViewQuery::Kind::coalition ||
           kind == ViewQuery::Kind::secure_sum || kind == ViewQuery::Kind::all_messages;
}

bool has_size(ViewQuery::Kind kind) {
    return kind == ViewQuery::Kind::worst_coalition || kind == ViewQuery::Kind::worst_all_messages;
}

/// Labels differ from numbers where a graph file named its agents.
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

View::Kind ViewQuery::view_kind() const {
    switch (kind) {
        case Kind::eavesdropper:
        case Kind::all_messages:
        case Kind::worst_all_messages:
            return View::Kind::all_messages;
        case Kind::secure_sum:
            return View::Kind::secure_sum;
        case Kind::node:
        case Kind::coalition:
        case Kind::all_nodes:
        case Kind::worst_coalition:
            break;
    }
    return View::Kind::neighbours;
}

std::vector<int> parse_agent_list(std::string_view option,
                                  std::string_view text,
                                  const Graph& graph) {
    std::vector<int> agents;
    for (const auto word : split(text, ',')) agents.push_back(parse_agent(option, word, graph));
    std::ranges::sort(agents);
    const auto repeated = std::ranges::adjacent_find(agents);
    if (repeated != agents.end())
        throw ConfigError(fmt::format("{}: agent {} is named twice", option, *repeated));
    return agents;
}

ViewQuery parse_view(std::string_view option, std::string_view text, const Graph& graph) {
    const std::size_t colon = text.find(':');
    const std::string_view word = text.substr(0, colon);
    ViewQuery query;
    query.kind = kinds.parse(option, word);
    const bool more = colon != std::string_view::npos;
    const std::string_view rest = more ? text.substr(colon + 1) : std::string_view();
    if (!names_agents(query.kind) && !has_size(query.kind)) {
        if (more)
            throw ConfigError(
                fmt::format("{}: '{}' takes nothing after it, '{}' given", option, word, text));
        return query;
    }
    if (rest.empty())
        throw ConfigError(fmt::format("{}: '{}' needs {} (example: {}:{})",
                                      option,
                                      text,
                                      has_size(query.kind) ? "a number of agents" : "agents",
                                      word,
                                      query.kind == ViewQuery::Kind::node ? "0"
                                      : has_size(query.kind)              ? "2"
                                                                          : "0,3"));
    if (has_size(query.kind)) {
        const long long size = parse_integer(option, rest);
        if (size < 1 || size >= graph.agents())
            throw ConfigError(
                fmt::format("{}: a coalition of {} is not allowed (must be 1 to {}, one less than "
                            "there are agents)",
                            option,
                            size,
                            graph.agents() - 1));
        query.size = static_cast<int>(size);
        return query;
    }
    query.members = parse_agent_list(option, rest, graph);
    if (query.kind == ViewQuery::Kind::node && query.members.size() != 1)
        throw ConfigError(
            fmt::format("{}: '{}' names several agents; use coalition:{}", option, text, rest));
    return query;
}

std::vector<ViewQuery> parse_views(std::string_view option,
                                   std::string_view text,
                                   const Graph& graph) {
    std::vector<ViewQuery> queries;
    for (const auto part : split(text, ';')) queries.push_back(parse_view(option, part, graph));
    return queries;
}

std::string name_of(const ViewQuery& query) {
    std::string text = kinds.name_of(query.kind);
    if (names_agents(query.kind)) text += fmt::format(":{}", fmt::join(query.members, ","));
    if (has_size(query.kind)) text += fmt::format(":{}", query.size);
    return text;
}

Argument argument_of(const View& view, bool fixed_inputs, StreamDistribution noise) {
    const bool all = view.sound_for_training();
    if (noise == StreamDistribution::laplace)
        return {all ? "all messages seen" : "bound: all messages seen", true};
    if (fixed_inputs) return {"exact, inputs fixed in advance", true};
    return {all ? "all messages seen" : "non-adaptive ([U] Theorem 8)", all};
}

}  // namespace sotto
