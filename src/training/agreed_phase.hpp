#pragma once

#include <optional>
#include <vector>

#include "config/config.hpp"
#include "planning/planning.hpp"
#include "sotto/net/network.hpp"
#include "sotto/plan/noise_plan.hpp"
#include "sotto/privacy/budget.hpp"
#include "tasks/local_task.hpp"
#include "training/participants.hpp"
#include "training/resume.hpp"

namespace sotto {

/// The phase to come, or to go on with: its plan, and what every agent has checked it against.
struct AgreedPhase {
    PlanConfig config;                       ///< see Run::phase
    std::vector<Exposure> exposures;         ///< of every place
    std::vector<PrivacyBudget> budgets;      ///< of every place, for this phase
    std::vector<PrivacyBudget> run_budgets;  ///< by number, for the whole run
    std::optional<PlannedNoise> planned;     ///< on processes that build it
    NoisePlan plan;                          ///< process 0's, on every process
    std::optional<Resumption> resumption;    ///< of a run that is taken up; its phases complete
};

/// Plans the noise of the phase, or takes up that of one that goes on, on the processes that build
/// what is public; every process then checks that it protects its agents as configured. COLLECTIVE.
/// @param task of the local agents.  @param resumption of a run that is taken up.
/// @throws ConfigError, DataError, PrivacyError, NetworkError, the same on every process.
[[nodiscard]] AgreedPhase agree_on_phase(const TrainConfig& config,
                                         Network& network,
                                         const Participants& participants,
                                         const LocalTask& task,
                                         std::optional<Resumption> resumption);

}  // namespace sotto
