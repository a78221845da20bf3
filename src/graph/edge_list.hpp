#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "sotto/graph/graph.hpp"

namespace sotto {

/// Bytes a label may have.
inline constexpr std::size_t longest_label = 256;

/// What an edge-list file held, beside the graph made of it.
struct EdgeListReport {
    int labels = 0;            ///< distinct labels in the file
    long long edges = 0;       ///< distinct edges in the file, or arcs
    long long self_loops = 0;  ///< dropped
    int components = 0;        ///< strong ones, where edges are directed
    int agents = 0;            ///< of the largest component, which is the graph
};

struct LoadedGraph {
    Graph graph;
    EdgeListReport report;
};

/// Reads an edge list: two labels a line separated by blanks, tabs or a comma; # or % at the start
/// of a word starts a comment; plain or .gz. The largest connected component is kept (the one with
/// the lowest label among equals). Agents are numbered by ascending label, numerically when all
/// labels of that component are integers, else as text.
/// @throws DataError if the file is missing or is not text, or looks like JSON, a line has one
/// label only, or more than two columns (weights are not read, and not left out in silence), a
/// label is longer than longest_label, there are more than 131072 labels or 4194304 lines, the
/// first line looks like column names, or no edge is left.
/// @param directed a line "u v" says that v hears u, and the largest strong component is kept.
[[nodiscard]] LoadedGraph read_edge_list(const std::string& path, bool directed = false);

/// One "label label" line per edge or arc, with a comment line on top. Read back, a connected graph
/// of two or more agents whose labels ascend (generated, or read from a file) is the same graph.
[[nodiscard]] std::string format_edge_list(const Graph& graph);

/// Takes the next token off the front of `rest`. Tokens are separated by blanks, tabs and commas;
/// a token that begins with # or % starts a comment that ends the line. Empty at the end.
[[nodiscard]] std::string_view take_token(std::string_view& rest);

/// Text of unknown origin, short and printable enough to be quoted in a message.
[[nodiscard]] std::string for_message(std::string_view text);

/// Whether the line holds bytes that no text file holds (control characters other than blanks).
[[nodiscard]] bool looks_binary(std::string_view line);

}  // namespace sotto
