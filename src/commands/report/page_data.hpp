#pragma once

#include <Eigen/Dense>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "commands/report/observer_figures.hpp"
#include "commands/report/report_job.hpp"
#include "training/run_subject.hpp"

namespace sotto {

/// A square matrix drawn in colours.
struct HeatMap {
    std::string title, unit, text;
    std::string rows, columns;       ///< what they stand for
    std::vector<std::string> names;  ///< of rows and columns
    Eigen::MatrixXd values;
};
/// Heat maps of the noise in every phase: its covariance across agents, or the variance of each
/// message if that depends on the receiver, and the covariance over rounds if they are correlated
/// (sampled above 200 rounds).
[[nodiscard]] std::vector<HeatMap> noise_pictures(const RecordedRun& run);

/// The graph for the page's scripts (report/page): {description, notes, labels, edges, gone}.
/// @param gone numbers of agents that have left.
[[nodiscard]] nlohmann::ordered_json page_graph(const BuiltTopography& built,
                                                const std::vector<int>& gone);

/// Figures of one kind of observers, with its words; epsilon as base64 of 32-bit floats.
[[nodiscard]] nlohmann::ordered_json page_figures(const ObserverFigures& figures,
                                                  const Graph& graph);

/// A heat map; values row by row as base64 of 32-bit floats.
[[nodiscard]] nlohmann::ordered_json page_heat_map(const HeatMap& map);

/// Figures of the eavesdropper and of coalitions of every size shown, who see every message, until
/// the time `until`; computed as the ledger is (PrivacyLosses). Cost: an eigendecomposition per
/// observer and phase; with secretly sampled rounds also PrivacyLoss::epsilon of every agent.
/// @throws ConfigError for an impossible coalition size.
[[nodiscard]] ObserverFigures figures_of_all_messages(const RecordedRun& run,
                                                      const ReportConfig& config,
                                                      Clock::time_point until);

/// The view of an agent's neighbours in this run: sums of messages with secure sums.
[[nodiscard]] View::Kind partial_view_of(const RecordedRun& run);

/// Whether the accountant counts every partial view of the run as all messages, as the ledger does:
/// with exchanges after the last round, momentum, or secretly sampled batches.
[[nodiscard]] bool all_messages_stand_for_partial_views(const RecordedRun& run);
/// Figures of partial views of such a run. @param all figures_of_all_messages.
[[nodiscard]] ObserverFigures figures_as_of_all_messages(const RecordedRun& run,
                                                         const ObserverFigures& all);

/// Figures of what agents, then coalitions, learn from the messages of their neighbours, as `sotto
/// account` computes them: single agents until `until`, coalitions until `coalitions_until`. Cost:
/// view_sensitivity of every observer.
/// @throws ConfigError for runs that are too long, and as account_subject_of.
[[nodiscard]] ObserverFigures figures_of_partial_views(const RecordedRun& run,
                                                       const ReportConfig& config,
                                                       Clock::time_point until,
                                                       Clock::time_point coalitions_until);

/// Figures of all observers that a page shows: those who see every message, then partial views.
/// Figures that the accountant cannot compute, or not within config.time_limit seconds of `start`,
/// are left out, and `note` says why.
/// @throws ConfigError for an impossible coalition size.
[[nodiscard]] std::vector<ObserverFigures> report_figures(const RecordedRun& run,
                                                          const ReportConfig& config,
                                                          Clock::time_point start);

}  // namespace sotto
