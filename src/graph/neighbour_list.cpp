#include "graph/neighbour_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include "core/text_input.hpp"
#include "graph/edge_list.hpp"
#include "sotto/core/error.hpp"

namespace sotto {

namespace {

constexpr std::size_t most_lines = std::size_t{1} << 22;

}  // namespace

NeighbourList read_neighbour_list(const std::string& path, int agent, int agents) {
    NeighbourList list;
    LineReader reader(path);
    std::string_view line;
    const auto fail = [&](std::string_view what) {
        throw DataError(
            fmt::format("neighbours {}: line {}: {} (allowed: a number from 0 to {}, or "
                        "two of which one is the agent's own, {})",
                        path,
                        reader.line_number(),
                        what,
                        agents - 1,
                        agent));
    };
    const auto number_of = [&](std::string_view token) {
        int number = -1;
        const char* const end = token.data() + token.size();
        const auto [last, error] = std::from_chars(token.data(), end, number);
        if (error != std::errc() || last != end || number < 0 || number >= agents)
            fail(fmt::format("\"{}\" is not an agent", for_message(token)));
        return number;
    };
    while (reader.next(line)) {
        std::string_view rest = line;
        const std::string_view first = take_token(rest), second = take_token(rest);
        if (first.empty()) continue;
        int other = number_of(first);
        if (!second.empty()) {
            const int end = number_of(second);
            if (!take_token(rest).empty()) fail("more than two numbers");
            if (other != agent && end != agent)
                fail(fmt::format("{} - {} is an edge between other agents", other, end));
            if (other == agent) other = end;
        }
        if (other != agent) list.push_back(other);
        if (list.size() > most_lines) fail(fmt::format("more than {} edges", most_lines));
    }
    std::ranges::sort(list);
    const auto repeated = std::ranges::unique(list);
    list.erase(repeated.begin(), repeated.end());
    return list;
}

Graph graph_of_neighbour_lists(const std::vector<NeighbourList>& lists) {
    std::vector<Edge> edges;
    for (std::size_t u = 0; u < lists.size(); ++u)
        for (const int v : lists[u]) {
            const int agent = static_cast<int>(u);
            if (!std::ranges::binary_search(lists.at(static_cast<std::size_t>(v)), agent))
                throw DataError(fmt::format(
                    "neighbours: agent {} names agent {}, which does not name it; correct what one "
                    "of them says",
                    agent,
                    v));
            edges.emplace_back(agent, v);
        }
    Graph graph = Graph::from_edges(static_cast<int>(lists.size()), std::move(edges));
    const std::vector<int> components = graph.components();
    for (std::size_t u = 0; u < components.size(); ++u)
        if (components[u] != 0)
            throw DataError(fmt::format(
                "neighbours: agent {} is not connected to agent 0, so they could never agree "
                "(correct the lists of neighbours so that they connect all agents)",
                u));
    return graph;
}

}  // namespace sotto
