#pragma once

#include "commands/report/observer_figures.hpp"
#include "commands/report/report_config.hpp"
#include "training/run_subject.hpp"

namespace sotto {

/// The eavesdropper, and coalitions of every size shown, with every message: by the sums the ledger
/// is made of (PrivacyLosses), until that time. Cost: an eigendecomposition an observer and phase;
/// of secretly sampled rounds PrivacyLoss::epsilon of every agent besides.
/// @throws ConfigError for a coalition size that cannot be.
[[nodiscard]] ObserverFigures figures_of_all_messages(const RecordedRun& run,
                                                      const ReportConfig& config,
                                                      Clock::time_point until);

}  // namespace sotto
