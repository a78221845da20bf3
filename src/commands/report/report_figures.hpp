#pragma once

#include <vector>

#include "commands/report/observer_figures.hpp"
#include "commands/report/report_config.hpp"
#include "training/run_subject.hpp"

namespace sotto {

/// Figures of all observers a page shows: with every message, then partial views. What the
/// accountant cannot give, or not in config.time_limit seconds after `start`, is left out, and
/// `note` says why.
/// @throws ConfigError for a coalition size that is asked for and cannot be.
[[nodiscard]] std::vector<ObserverFigures> report_figures(const RecordedRun& run,
                                                          const ReportConfig& config,
                                                          Clock::time_point start);

}  // namespace sotto
