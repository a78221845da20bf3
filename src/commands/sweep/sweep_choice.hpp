#pragma once

#include <span>
#include <string>

#include "commands/sweep/sweep_result.hpp"

namespace sotto {

/// The candidate whose trainings have the best mean of a metric: the smallest, of an accuracy the
/// largest; the first of equal ones. One whose trainings did not all end well, or lack the metric,
/// is never better.
/// @param validation trainings of one cell.  @param candidates their number; 0 for 1 or less.
/// @throws ConfigError if trainings have ended well, and no candidate has the metric.
[[nodiscard]] std::size_t best_candidate(std::span<const SweepRow> validation,
                                         std::size_t candidates,
                                         const std::string& metric);

/// Whether all trainings of a candidate are done.
[[nodiscard]] bool has_ended_well(std::span<const SweepRow> validation, std::size_t candidate);
/// Whether they are done or diverged: one that failed says nothing about its values.
[[nodiscard]] bool is_judged(std::span<const SweepRow> validation, std::size_t candidate);

}  // namespace sotto
