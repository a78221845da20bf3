#pragma once

#include <span>
#include <string>

#include "commands/sweep/sweep_result.hpp"

namespace sotto {

/// The candidate whose trainings have the best mean of a metric: the smallest, of an accuracy the
/// largest; the first of equal ones. One whose trainings did not all end well is never better.
/// @param validation trainings of one cell.  @param candidates their number; 0 for 1 or less.
/// @throws ConfigError if the trainings have no such metric.
[[nodiscard]] std::size_t best_candidate(std::span<const SweepRow> validation,
                                         std::size_t candidates,
                                         const std::string& metric);

}  // namespace sotto
