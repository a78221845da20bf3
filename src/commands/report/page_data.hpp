#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "commands/report/observer_figures.hpp"
#include "commands/report/report_noise.hpp"
#include "training/run_subject.hpp"

namespace sotto {

/// What the programs of the page (report/page) read: {description, notes, labels, edges, gone}.
/// @param gone numbers of agents that have left.
[[nodiscard]] nlohmann::ordered_json page_graph(const BuiltTopography& built,
                                                const std::vector<int>& gone);

/// Figures of one kind of observers, with the words for them; epsilon as base64 of 32-bit numbers.
[[nodiscard]] nlohmann::ordered_json page_figures(const ObserverFigures& figures,
                                                  const Graph& graph);

/// A picture; values row by row as base64 of 32-bit numbers.
[[nodiscard]] nlohmann::ordered_json page_heat_map(const HeatMap& map);

}  // namespace sotto
