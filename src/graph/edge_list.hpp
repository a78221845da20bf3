#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "sotto/graph/graph.hpp"

namespace sotto {

/// Largest length of a label in bytes.
inline constexpr std::size_t longest_label = 256;

/// Counts of an edge-list file.
struct EdgeListReport {
    int labels = 0;            ///< distinct labels in the file
    long long edges = 0;       ///< distinct edges in the file, or arcs
    long long self_loops = 0;  ///< dropped
    int components = 0;        ///< strong ones if edges are directed
    int agents = 0;            ///< of the largest component, which becomes the graph
};

struct LoadedGraph {
    Graph graph;
    EdgeListReport report;
};

/// Reads an edge list: two labels a line separated by blanks, tabs or a comma; # or % at the start
/// of a word starts a comment; plain or .gz. Keeps the largest connected component (with the lowest
/// label among equals). Agents are numbered by ascending label, numerically if all labels of that
/// component are integers, else as text.
/// @param directed a line "u v" means that v hears u, and the largest strong component is kept.
/// @throws DataError if the file is missing, is not text, or looks like JSON; a line has one label,
/// or more than two columns (weights are not supported); a label is longer than longest_label;
/// there are more than 131072 labels or 4194304 lines; the first line looks like column names; or
/// no edge is left.
[[nodiscard]] LoadedGraph read_edge_list(const std::string& path, bool directed = false);

/// One "label label" line per edge or arc after a comment line. Reading it gives the same graph if
/// it is connected, has two or more agents, and its labels ascend (generated, or read from a file).
[[nodiscard]] std::string format_edge_list(const Graph& graph);

/// Removes and returns the next token of `rest`. Tokens are separated by blanks, tabs and commas; #
/// or % at the start of a token starts a comment. Empty at the end.
[[nodiscard]] std::string_view take_token(std::string_view& rest);

/// Untrusted text, made short and printable for a message.
[[nodiscard]] std::string for_message(std::string_view text);

/// Whether the line contains control characters other than blanks.
[[nodiscard]] bool looks_binary(std::string_view line);

}  // namespace sotto
