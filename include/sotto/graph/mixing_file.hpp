#pragma once

#include <string>
#include <vector>

#include "sotto/graph/graph.hpp"
#include "sotto/graph/mixing.hpp"

namespace sotto {

/// Names of the rules.
[[nodiscard]] std::vector<std::string> mixing_names();

/// By rule name, or from a file: an n x n matrix as .npy, or as text (one row a line, numbers
/// separated by blanks or commas, # comments). A text that is neither a rule nor an existing file
/// is an error that suggests the nearest rule.
/// @throws ConfigError for an unknown name. @throws DataError naming file and entry for a file that
/// does not hold a mixing matrix of this graph (see MixingMatrix::from_dense).
[[nodiscard]] MixingMatrix make_mixing(const Graph& graph, const std::string& rule_or_file);

}  // namespace sotto
