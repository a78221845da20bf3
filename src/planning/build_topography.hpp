#pragma once

#include <string>
#include <vector>

#include "config/config.hpp"
#include "sotto/graph/topography.hpp"

namespace sotto {

/// The configured graph and mixing matrix, and what there is to say about how they came about.
struct BuiltTopography {
    Topography topography;
    std::string description;         ///< "erdos-renyi p=0.5 (seed 0)", "file x.edges"
    std::vector<std::string> notes;  ///< reductions and retries a user should know
};
/// @param plan what the run's noise is: weights may be made for it, and a random schedule draws as
/// many graphs as there are rounds.
/// @throws ConfigError, DataError.
[[nodiscard]] BuiltTopography build_topography(const GraphConfig& config, const PlanConfig& plan);
/// Where no noise is planned.
[[nodiscard]] BuiltTopography build_topography(const GraphConfig& config, long rounds);

/// How many mixing matrices there can be: one where mixing is fixed, else one a round, or as many
/// as the schedule's file has room for.
[[nodiscard]] double most_mixing_matrices(const GraphConfig& config, long rounds);

/// Number of agents of the configured graph; reads its file where there is one.
[[nodiscard]] int agents_of(const GraphConfig& config);

}  // namespace sotto
