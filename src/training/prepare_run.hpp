#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "account/ledger_views.hpp"
#include "config/config.hpp"
#include "planning/build_topography.hpp"
#include "planning/plan_report.hpp"
#include "planning/planning.hpp"
#include "sotto/agent/trainer.hpp"
#include "sotto/privacy/ledger.hpp"
#include "store/run_history.hpp"
#include "tasks/local_task.hpp"
#include "training/resume.hpp"
#include "training/run.hpp"
#include "training/train_result.hpp"

namespace sotto {

/// A training that everybody has agreed on: checked, planned, and connected. Nothing is written or
/// drawn yet.
struct PreparedRun {
    Run run;
    std::optional<BuiltTopography> built;  ///< on processes that build it, process 0 among them
    std::optional<PlannedNoise> planned;   ///< on the same processes
    std::vector<LocalAgent> agents;
    Eigen::VectorXd initial;   ///< model of every agent of a run that begins
    bool coordinates = false;  ///< see LocalTask
    Ledger ledger;
    std::optional<LedgerViews> views;  ///< on process 0
    RunHistory history;                ///< with the phase to come; its start is not counted yet
    std::optional<Resumption> resumption;
    // On process 0, for people.
    std::string report{};   ///< plan and ledger
    std::string outline{};  ///< the same in a few lines
    PlanWords words{};
    std::vector<std::string> warnings{};  ///< that are known before the first round
};

/// Bootstrap up to the handshake: options compared, graph, task, plan and budgets agreed on, every
/// agent satisfied. COLLECTIVE.
/// @param make_task the agents' inputs where config.task does not say; COLLECTIVE.
/// @throws Error, the same on every process.
[[nodiscard]] PreparedRun prepare_run(const TrainConfig& config,
                                      Network& network,
                                      const std::function<LocalTask()>& make_task);

/// What is known of the result but for the training itself, with what `rounds` rounds reveal.
[[nodiscard]] TrainResult result_with_account(const PreparedRun& prepared, long rounds);

}  // namespace sotto
