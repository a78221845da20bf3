#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "account/ledger_views.hpp"
#include "agent/trainer.hpp"
#include "config/config.hpp"
#include "net/network.hpp"
#include "planning/build_topography.hpp"
#include "planning/plan_report.hpp"
#include "planning/planning.hpp"
#include "sotto/plan/noise_plan.hpp"
#include "sotto/privacy/budget.hpp"
#include "sotto/privacy/ledger.hpp"
#include "store/run_history.hpp"
#include "tasks/local_task.hpp"
#include "training/participants.hpp"
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

/// The phase to come, or to go on with: its plan, and what every agent has checked it against.
struct AgreedPhase {
    SettledPlan config;                      ///< see Run::phase
    std::vector<Exposure> exposures;         ///< of every place
    std::vector<PrivacyBudget> budgets;      ///< of every place, for this phase
    std::vector<PrivacyBudget> run_budgets;  ///< by number, for the whole run
    std::optional<PlannedNoise> planned;     ///< on processes that build it
    NoisePlan plan;                          ///< process 0's, on every process
    std::optional<Resumption> resumption;    ///< of a run that is resumed; its phases complete
};

/// Plans the noise of the phase, or takes up that of one that goes on, on the processes that build
/// what is public; every process then checks that it protects its agents as configured. COLLECTIVE.
/// @param task of the local agents.  @param resumption of a run that is resumed.
/// @throws ConfigError, DataError, PrivacyError, NetworkError, the same on every process.
[[nodiscard]] AgreedPhase agree_on_phase(const TrainConfig& config,
                                         Network& network,
                                         const Participants& participants,
                                         const LocalTask& task,
                                         std::optional<Resumption> resumption);

}  // namespace sotto
