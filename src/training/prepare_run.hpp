#pragma once

#include <functional>
#include <memory>
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
#include "planning/tuning.hpp"
#include "sotto/plan/noise_plan.hpp"
#include "sotto/privacy/budget.hpp"
#include "sotto/privacy/ledger.hpp"
#include "store/run_history.hpp"
#include "tasks/local_task.hpp"
#include "training/participants.hpp"
#include "training/resume.hpp"
#include "training/run.hpp"
#include "training/survey.hpp"
#include "training/train_result.hpp"

namespace sotto {

/// A training that all processes agreed on: checked, planned and connected. Nothing is written or
/// drawn yet.
struct PreparedRun {
    Run run;
    std::optional<BuiltTopography> built;  ///< on processes that build it, including process 0
    std::optional<PlannedNoise> planned;   ///< on the same processes
    std::vector<LocalAgent> agents;
    Eigen::VectorXd initial;   ///< initial model of every agent in a new run
    bool coordinates = false;  ///< see LocalTask
    Ledger ledger;
    std::optional<LedgerViews> views;  ///< on process 0
    RunHistory history;                ///< with the next phase; its start is not counted yet
    std::optional<Resumption> resumption;
    /// Rounds to be paid before those of the training. While there are some, the plan is in units
    /// of a clip and a step size of 1 where these are open, the ledger has all phases, and the
    /// history ends with those of the surveys.
    std::vector<Survey> surveys{};
    std::vector<std::unique_ptr<Objective>> moments{};  ///< see LocalTask
    std::vector<Eigen::Index> records{};                ///< of every place
    Tuning tuning{};
    std::vector<Exposure> exposures{};     ///< of every place
    std::vector<PrivacyBudget> budgets{};  ///< of every place, for this phase
    // Texts for users, on process 0.
    std::string report{};   ///< plan and ledger
    std::string outline{};  ///< the same in a few lines
    PlanWords words{};
    std::vector<std::string> warnings{};  ///< known before the first round
};

/// Bootstrap up to the handshake: compares options, agrees on graph, task, plan and budgets, and
/// lets every agent verify them. COLLECTIVE.
/// @param make_task builds the agents' inputs if config.task does not; COLLECTIVE.
/// @param listener hears of every step.
/// @throws Error, the same on every process.
[[nodiscard]] PreparedRun prepare_run(const TrainConfig& config,
                                      Network& network,
                                      const std::function<LocalTask()>& make_task,
                                      TrainingListener& listener);

/// Where and how the run goes on.
[[nodiscard]] ResumedRun resumed_run(const Resumption& resumption, const Membership& members);

/// Gives the training the clip and the step that its surveys found: the noise of the plan grows
/// with the clip, so that no figure of the guarantee changes, which every agent checks again;
/// ledger, history, configuration and words follow. COLLECTIVE. @throws as verify_agreement.
void take_step(PreparedRun& prepared, const TunedStep& step);

/// The next phase, new or continued: its plan, and the data for every agent's check of it.
struct AgreedPhase {
    SettledPlan config;                      ///< see Run::phase
    std::vector<Exposure> exposures;         ///< of every place
    std::vector<PrivacyBudget> budgets;      ///< of every place, for this phase
    std::vector<PrivacyBudget> run_budgets;  ///< by number, for the whole run
    std::optional<PlannedNoise> planned;     ///< on processes that build it
    NoisePlan plan;                          ///< process 0's, on every process
    std::optional<Resumption> resumption;    ///< of a resumed run; its phases are complete
    /// With --protect-against: what the budgets, which are then what the plan reveals to somebody
    /// who sees all messages, were asked for.
    std::string protected_views;
};

/// Plans the noise of the phase, or reuses the plan of a continued one, on the processes that build
/// what is public. Every process then checks that the plan protects its agents as configured.
/// COLLECTIVE.
/// @param task of the local agents.  @param resumption of a resumed run.
/// @throws ConfigError, DataError, PrivacyError, NetworkError, the same on every process.
[[nodiscard]] AgreedPhase agree_on_phase(const TrainConfig& config,
                                         Network& network,
                                         const Participants& participants,
                                         const LocalTask& task,
                                         std::optional<Resumption> resumption);

}  // namespace sotto
