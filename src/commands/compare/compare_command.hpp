#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "commands/compare/compare_job.hpp"

namespace sotto {

/// A table, and how to read it.
[[nodiscard]] std::string comparison_text(const std::vector<ComparedFigures>& figures);
/// The same as CSV: unknown figures are empty, infinite ones "infinite".
[[nodiscard]] std::string comparison_csv(const std::vector<ComparedFigures>& figures);
/// The same as a JSON array.
[[nodiscard]] nlohmann::ordered_json comparison_json(const std::vector<ComparedFigures>& figures);

/// Draws bars for each mechanism: noise relative to ldp, both epsilons, and accuracy if known.
/// @return the path, DIR/comparison.svg; empty without gnuplot or figures.
[[nodiscard]] std::string draw_comparison(const std::filesystem::path& directory,
                                          const std::vector<ComparedFigures>& figures);

}  // namespace sotto
