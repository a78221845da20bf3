#pragma once

// The phase with which a run goes on: with which budget and plan; not installed.

#include <vector>

#include "planning/build_topography.hpp"
#include "planning/planning.hpp"
#include "sotto/privacy/composition.hpp"
#include "tasks/local_task.hpp"
#include "training/resume.hpp"

namespace sotto {

/// @throws DataError if data or model are not those of the checkpoints.
void require_same_task(const LocalTask& task, const Resumption& resumption);

/// Who joins is committed to its data, and is where the run began: at its initial model, with no
/// momentum, and means of that model where means are kept by now.
void let_enter(Resumption& resumption, const LocalTask& task, const TrainConfig& config);

/// What the phases before have revealed, against the coalitions that count.
[[nodiscard]] PrivacyLosses spent_before(const Resumption& resumption,
                                         const PlanConfig& phase,
                                         const Membership& members);

/// @throws ConfigError where some agents do not take part and noise depends on the receiver.
void require_everybody_for(const NoisePlan& plan, const Membership& members);

/// What the phases before leave of the budgets of those who take part, by place.
/// @throws PrivacyError if nothing is left; ConfigError for agents that leave a run whose noise
/// depends on the receiver.
[[nodiscard]] std::vector<PrivacyBudget> phase_budgets(std::vector<PrivacyBudget> budgets,
                                                       const Resumption& resumption,
                                                       const PlanConfig& phase,
                                                       const Topography& topography,
                                                       const Membership& members);

/// A plan for the phase; one of a file is made louder where its budget is no longer what is left.
[[nodiscard]] PlannedNoise plan_phase(const PlanConfig& phase,
                                      const Topography& topography,
                                      const std::vector<Exposure>& exposures,
                                      const std::vector<PrivacyBudget>& budgets,
                                      bool resumed);
/// The plan of a phase that goes on.
[[nodiscard]] PlannedNoise kept_plan(const PrivacyPhase& phase, const PlanConfig& config);

/// A phase that goes on with its own keys is counted as a whole: every agent makes sure that what
/// comes is counted as what was. @param now the phase as the options of today make it.
/// @return the phase of the history, with the session of this start.
/// @throws PrivacyError naming the field, and both values.
[[nodiscard]] PrivacyPhase going_on_as(const PrivacyPhase& before,
                                       const PrivacyPhase& now,
                                       const PlanConfig& config);

}  // namespace sotto
