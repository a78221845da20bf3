#include "graph/edge_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>
#include <optional>
#include <unordered_map>

#include "core/text_input.hpp"
#include "sotto/core/error.hpp"

namespace sotto {

namespace {

std::optional<long long> as_integer(std::string_view text) {
    long long value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

/// Name of another format that the line starts; null if it may be an edge list.
const char* other_format(std::string_view first, std::string_view rest) {
    if (first.front() == '{' || (first.front() == '[' && first != "[")) return "JSON";
    if (first.starts_with("<?xml") || first.starts_with("<graphml")) return "GraphML";
    const bool opens = rest.find('[') != std::string_view::npos;
    if (first == "[" || ((first == "graph" || first == "node") && opens)) return "GML";
    return nullptr;
}

void require_edge_list(const std::string& path,
                       long long line,
                       std::string_view first,
                       std::string_view rest) {
    if (const char* const other = other_format(first, rest))
        throw DataError(
            fmt::format("edge list {}: line {}, \"{}\", looks like {}; give a text file with two "
                        "labels per line (networkx: nx.write_edgelist(G, FILE, data=False))",
                        path,
                        line,
                        for_message(first),
                        other));
}

/// Indices of `labels` in ascending order: numerically if all are integers, else as text.
std::vector<std::size_t> ascending(const std::vector<std::string>& labels) {
    std::vector<long long> numbers;
    for (const std::string& label : labels) {
        const std::optional<long long> number = as_integer(label);
        if (!number) break;
        numbers.push_back(*number);
    }
    const bool numeric = numbers.size() == labels.size();
    std::vector<std::size_t> order(labels.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        if (numeric && numbers[a] != numbers[b]) return numbers[a] < numbers[b];
        return labels[a] < labels[b];
    });
    return order;
}

// Mixing matrices and plans support at most thousands of agents.
constexpr std::size_t most_labels = std::size_t{1} << 17;
constexpr std::size_t most_edges = std::size_t{1} << 22;

/// Labels and edges (of label indices) in the order of the file.
struct RawEdges {
    std::vector<std::string> labels;
    std::vector<Edge> edges;
    long long self_loops = 0;
};

RawEdges read_raw(const std::string& path) {
    RawEdges raw;
    std::unordered_map<std::string, int> index_of;
    const auto index = [&](std::string_view label) {
        const auto [entry, added] =
            index_of.try_emplace(std::string(label), static_cast<int>(raw.labels.size()));
        if (added) raw.labels.emplace_back(label);
        return entry->second;
    };
    LineReader reader(path);
    std::string_view line;
    while (reader.next(line)) {
        if (looks_binary(line))
            throw DataError(
                fmt::format("edge list {}: line {} holds bytes that are not text; give a text file "
                            "(or a .gz of one) with two labels per line",
                            path,
                            reader.line_number()));
        std::string_view rest = line;
        const std::string_view first = take_token(rest);
        if (first.empty()) continue;
        require_edge_list(path, reader.line_number(), first, rest);
        const std::string_view second = take_token(rest);
        if (second.empty())
            throw DataError(
                fmt::format("edge list {}: line {} has one label, \"{}\"; two labels per line make "
                            "an edge, # starts a comment",
                            path,
                            reader.line_number(),
                            for_message(first)));
        // networkx writes {} after an edge without data.
        if (const std::string_view third = take_token(rest); !third.empty() && third != "{}")
            throw DataError(fmt::format(
                "edge list {}: line {} has a third column, \"{}\"; two labels per line make an "
                "edge (weights of edges are not read: leave the column out, in networkx by "
                "nx.write_edgelist(G, FILE, data=False), or give --mixing a file with the matrix)",
                path,
                reader.line_number(),
                for_message(third)));
        for (const std::string_view label : {first, second})
            if (label.size() > longest_label)
                throw DataError(
                    fmt::format("edge list {}: line {} has a label of {} bytes, \"{}\"; "
                                "at most {} are allowed",
                                path,
                                reader.line_number(),
                                label.size(),
                                for_message(label),
                                longest_label));
        // Separate statements number labels in order of appearance.
        const int u = index(first);
        const int v = index(second);
        if (u == v) ++raw.self_loops;
        raw.edges.emplace_back(u, v);
        if (raw.labels.size() > most_labels || raw.edges.size() > most_edges)
            throw DataError(fmt::format(
                "edge list {}: more than {} labels or {} edges up to line {}; that is more agents "
                "than can be planned for",
                path,
                most_labels,
                most_edges,
                reader.line_number()));
    }
    return raw;
}

/// Column names would become two agents and turn numeric order into text order.
void refuse_column_names(const RawEdges& raw, const std::string& path) {
    if (raw.edges.size() < 2 || raw.edges.front() != Edge{0, 1}) return;
    const auto is_integer = [](const std::string& label) { return as_integer(label).has_value(); };
    if (raw.labels.size() < 3 || is_integer(raw.labels[0]) || is_integer(raw.labels[1])) return;
    if (!std::all_of(raw.labels.begin() + 2, raw.labels.end(), is_integer)) return;
    const bool used_again = std::any_of(raw.edges.begin() + 1, raw.edges.end(), [](const Edge& e) {
        return e.first < 2 || e.second < 2;
    });
    if (used_again) return;
    throw DataError(
        fmt::format("edge list {}: \"{} {}\" looks like column names above numbered "
                    "agents; put # in front of that line",
                    path,
                    for_message(raw.labels[0]),
                    for_message(raw.labels[1])));
}

}  // namespace

LoadedGraph read_edge_list(const std::string& path, bool directed) {
    const RawEdges raw = read_raw(path);
    refuse_column_names(raw, path);

    std::vector<std::string> labels;
    std::vector<int> rank(raw.labels.size());
    for (const std::size_t i : ascending(raw.labels)) {
        rank[i] = static_cast<int>(labels.size());
        labels.push_back(raw.labels[i]);
    }
    std::vector<Edge> edges;
    edges.reserve(raw.edges.size());
    for (const auto& [u, v] : raw.edges)
        edges.emplace_back(rank[static_cast<std::size_t>(u)], rank[static_cast<std::size_t>(v)]);
    if (static_cast<std::size_t>(raw.self_loops) == raw.edges.size())
        throw DataError(fmt::format(
            "edge list {}: no edge between two different labels (at least one is needed)", path));

    const Graph whole =
        Graph::from_links(static_cast<int>(labels.size()), directed, std::move(edges));
    const std::vector<int> component = whole.components();
    std::vector<int> size(component.size(), 0);
    for (const int c : component) ++size[static_cast<std::size_t>(c)];
    // Components are numbered by their lowest label, so the first maximum is the one to keep.
    const auto largest = std::max_element(size.begin(), size.end());
    const auto kept = static_cast<int>(largest - size.begin());

    // The order is decided again among the kept labels: writing the graph and reading it back must
    // give the same numbers even if only dropped labels were not integers.
    std::vector<std::string> kept_labels;
    std::vector<int> members;
    for (std::size_t u = 0; u < component.size(); ++u) {
        if (component[u] != kept) continue;
        members.push_back(static_cast<int>(u));
        kept_labels.push_back(labels[u]);
    }
    std::vector<int> agent_of(component.size(), -1);
    std::vector<std::string> agent_labels;
    for (const std::size_t i : ascending(kept_labels)) {
        agent_of[static_cast<std::size_t>(members[i])] = static_cast<int>(agent_labels.size());
        agent_labels.push_back(kept_labels[i]);
    }
    if (members.size() < 2)
        throw DataError(
            fmt::format("edge list {}: no two agents can reach each other along its edges, so no "
                        "agent could both learn from others and be learnt from; add edges in the "
                        "other direction, or read it without --directed",
                        path));
    const auto links = whole.links();
    std::vector<std::pair<int, int>> kept_links;
    for (const auto& [u, v] : links) {
        const int a = agent_of[static_cast<std::size_t>(u)];
        const int b = agent_of[static_cast<std::size_t>(v)];
        if (a >= 0 && b >= 0) kept_links.emplace_back(a, b);
    }

    EdgeListReport report;
    report.labels = whole.agents();
    report.edges = std::ssize(links);
    report.self_loops = raw.self_loops;
    report.components = *std::max_element(component.begin(), component.end()) + 1;
    report.agents = *largest;
    return {
        Graph::from_links(report.agents, directed, std::move(kept_links), std::move(agent_labels)),
        report};
}

std::string format_edge_list(const Graph& graph) {
    const auto links = graph.links();
    std::string text = fmt::format("# {} agents, {} {}edges\n",
                                   graph.agents(),
                                   links.size(),
                                   graph.directed() ? "directed " : "");
    for (const auto& [u, v] : links) text += fmt::format("{} {}\n", graph.label(u), graph.label(v));
    return text;
}

namespace {

constexpr std::string_view separators = " \t,\r\f\v";
constexpr std::size_t longest_quote = 40;

bool is_control(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7f;
}

}  // namespace

std::string_view take_token(std::string_view& rest) {
    const std::size_t begin = rest.find_first_not_of(separators);
    if (begin == std::string_view::npos || rest[begin] == '#' || rest[begin] == '%') {
        rest = {};
        return {};
    }
    rest.remove_prefix(begin);
    const std::size_t end = std::min(rest.find_first_of(separators), rest.size());
    const std::string_view token = rest.substr(0, end);
    rest.remove_prefix(end);
    return token;
}

std::string for_message(std::string_view text) {
    std::string result;
    for (const char c : text.substr(0, longest_quote))
        result.push_back(is_control(c) || static_cast<unsigned char>(c) >= 0x80 ? '?' : c);
    if (text.size() > longest_quote) result += "...";
    return result;
}

bool looks_binary(std::string_view line) {
    return std::any_of(line.begin(), line.end(), [](char c) {
        return is_control(c) && separators.find(c) == std::string_view::npos;
    });
}

}  // namespace sotto
