#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "commands/compare/compare_job.hpp"

namespace sotto {

/// Lines for people: a table, and how to read it.
[[nodiscard]] std::string comparison_text(const std::vector<ComparedFigures>& figures);
/// The same as a table of commas; empty cells where nothing is known, "infinite" without a limit.
[[nodiscard]] std::string comparison_csv(const std::vector<ComparedFigures>& figures);
/// The JSON array of it.
[[nodiscard]] nlohmann::ordered_json comparison_json(const std::vector<ComparedFigures>& figures);

/// Bars of every mechanism: noise that survives, both epsilons, and accuracy where there is one.
/// @return the picture's path, DIR/comparison.svg; empty without gnuplot.
[[nodiscard]] std::string draw_comparison(const std::filesystem::path& directory,
                                          const std::vector<ComparedFigures>& figures);

}  // namespace sotto
