#pragma once

#include "commands/report/observer_figures.hpp"
#include "commands/report/report_config.hpp"
#include "run/run_subject.hpp"

namespace sotto {

/// What agents receive of their neighbours in this run: sums of messages with secure sums.
[[nodiscard]] View::Kind partial_view_of(const RecordedRun& run);

/// Every agent, then coalitions, from what their neighbours send to them, as `sotto account` gives
/// it, while time lasts. Cost: view_sensitivity of every observer.
/// @throws ConfigError for runs that are too long, and as account_subject_of.
[[nodiscard]] ObserverFigures figures_of_partial_views(const RecordedRun& run,
                                                       const ReportConfig& config);

}  // namespace sotto
