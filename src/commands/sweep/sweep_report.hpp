#pragma once

#include <filesystem>
#include <string>

#include "commands/sweep/sweep_file.hpp"
#include "commands/sweep/sweep_result.hpp"
#include "core/picture.hpp"

namespace sotto {

/// The report of `sotto sweep`: JSON (docs/cli.md), and a table.
[[nodiscard]] std::string sweep_report_json(const SweepConfig& config, const SweepResult& result);
[[nodiscard]] std::string sweep_report_text(const SweepConfig& config, const SweepResult& result);

/// What all trainings of a sweep in this directory reveal together, or why it is not known; one
/// line.
[[nodiscard]] std::string privacy_line(const std::filesystem::path& directory,
                                       const SweepResult& result);

/// One row per cell, and one per training, as CSV with a header.
[[nodiscard]] std::string cells_csv(const SweepConfig& config, const SweepResult& result);
[[nodiscard]] std::string trainings_csv(const SweepConfig& config, const SweepResult& result);

/// A mean in a picture, with its interval if it has one.
[[nodiscard]] PicturePoint point_of(double x, const SweepMean& mean);
/// Draws choose_by over the option `plot`, a line per variant. @return the path; empty if gnuplot
/// or the figures are missing.
[[nodiscard]] std::string draw_sweep(const SweepConfig& config, const SweepResult& result);

}  // namespace sotto
