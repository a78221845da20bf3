#pragma once

#include <Eigen/Dense>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "commands/report/observer_figures.hpp"
#include "commands/report/report_job.hpp"
#include "training/run_subject.hpp"

namespace sotto {

/// One picture of a square of numbers.
struct HeatMap {
    std::string title, unit, text;
    std::string rows, columns;       ///< what they are
    std::vector<std::string> names;  ///< of both
    Eigen::MatrixXd values;
};
/// Noise of every phase: covariance across agents, or what messages carry where that depends on the
/// receiver; and over rounds where they are correlated (sampled above 200 rounds).
[[nodiscard]] std::vector<HeatMap> noise_pictures(const RecordedRun& run);

/// What the programs of the page (report/page) read: {description, notes, labels, edges, gone}.
/// @param gone numbers of agents that have left.
[[nodiscard]] nlohmann::ordered_json page_graph(const BuiltTopography& built,
                                                const std::vector<int>& gone);

/// Figures of one kind of observers, with the words for them; epsilon as base64 of 32-bit numbers.
[[nodiscard]] nlohmann::ordered_json page_figures(const ObserverFigures& figures,
                                                  const Graph& graph);

/// A picture; values row by row as base64 of 32-bit numbers.
[[nodiscard]] nlohmann::ordered_json page_heat_map(const HeatMap& map);

/// The eavesdropper, and coalitions of every size shown, with every message: by the sums the ledger
/// is made of (PrivacyLosses), until that time. Cost: an eigendecomposition an observer and phase;
/// of secretly sampled rounds PrivacyLoss::epsilon of every agent besides.
/// @throws ConfigError for a coalition size that cannot be.
[[nodiscard]] ObserverFigures figures_of_all_messages(const RecordedRun& run,
                                                      const ReportConfig& config,
                                                      Clock::time_point until);

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

/// Figures of all observers a page shows: with every message, then partial views. What the
/// accountant cannot give, or not in config.time_limit seconds after `start`, is left out, and
/// `note` says why.
/// @throws ConfigError for a coalition size that is asked for and cannot be.
[[nodiscard]] std::vector<ObserverFigures> report_figures(const RecordedRun& run,
                                                          const ReportConfig& config,
                                                          Clock::time_point start);

}  // namespace sotto
