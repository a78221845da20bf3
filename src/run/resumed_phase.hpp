#pragma once

// The phase with which a run goes on: who takes part, with which budget and plan; not installed.

#include <string>
#include <vector>

#include "run/build_topography.hpp"
#include "run/planning.hpp"
#include "run/resume.hpp"
#include "run/task.hpp"
#include "run/training.hpp"

namespace sotto {

/// Who takes part once these have left. @throws ConfigError for agents that are not there, or if
/// nobody is left.
[[nodiscard]] Membership members_without(const RunHistory& history,
                                         const std::vector<int>& leaving);

/// @throws ConfigError unless the network has as many agents as take part.
void require_agents_for(const Membership& members, const Network& network);

/// Takes those who have left out of graph and mixing. @throws ConfigError where the rest is not
/// connected, or the configuration names them: a mixing file, a mixing schedule, seed groups or a
/// plan of a file.
void keep_members(BuiltTopography& built, const TrainConfig& config, const Membership& members);

/// @throws DataError if data or model are not those of the checkpoints.
void require_same_task(const LocalTask& task, const Resumption& resumption);

/// Fills in what the history leaves to the configuration.
void complete_phase(PrivacyPhase& phase, const PlanConfig& config, const MixingMatrix& mixing);
void complete_phases(Resumption& resumption,
                     const PlanConfig& config,
                     const Topography& topography);

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

/// Every agent checks that the history counts what its own checkpoint says it had revealed then.
/// @param coalition_size that the plans are made for.
/// @throws PrivacyError naming the agent.
void require_counted(const Resumption& resumption, int coalition_size);

/// How the run goes on, in lines for the report.
[[nodiscard]] std::string resumption_text(const ResumedRun& resumed, const Resumption& resumption);

}  // namespace sotto
