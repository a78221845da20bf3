#pragma once

#include "commands/report/observer_figures.hpp"
#include "commands/report/report_config.hpp"
#include "training/run_subject.hpp"

namespace sotto {

/// What agents receive of their neighbours in this run: sums of messages with secure sums.
[[nodiscard]] View::Kind partial_view_of(const RecordedRun& run);

/// Whether the accountant takes for every partial view of the run what all messages show, as the
/// ledger counts it: with exchanges after the last round, momentum, or secretly sampled batches.
[[nodiscard]] bool all_messages_stand_for_partial_views(const RecordedRun& run);
/// Figures of partial views of such a run. @param all figures_of_all_messages.
[[nodiscard]] ObserverFigures figures_as_of_all_messages(const RecordedRun& run,
                                                         const ObserverFigures& all);

/// Every agent, then coalitions, from what their neighbours send to them, as `sotto account` gives
/// it: single agents until the first time, coalitions until the second. Cost: view_sensitivity of
/// every observer.
/// @throws ConfigError for runs that are too long, and as account_subject_of.
[[nodiscard]] ObserverFigures figures_of_partial_views(const RecordedRun& run,
                                                       const ReportConfig& config,
                                                       Clock::time_point until,
                                                       Clock::time_point coalitions_until);

}  // namespace sotto
