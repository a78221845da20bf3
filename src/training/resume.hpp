#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "net/network.hpp"
#include "planning/build_topography.hpp"
#include "planning/planning.hpp"
#include "sotto/privacy/ledger.hpp"
#include "store/checkpoint_store.hpp"
#include "store/copies.hpp"
#include "store/run_history.hpp"
#include "tasks/local_task.hpp"
#include "training/train_result.hpp"
#include "trust/handshake.hpp"
#include "trust/key_ring.hpp"

namespace sotto {

// Resuming a run.

/// Sends process 0's history of the run to every process. COLLECTIVE. @throws DataError, or Error
/// (exit code complete) if nothing is left to do, the same on every process.
/// @param most_temporal_values of one plan.
[[nodiscard]] RunHistory share_history(Network& network,
                                       const ResumeConfig& resume,
                                       double most_temporal_values);

/// The state from which a run resumes.
struct Resumption {
    /// Completed phases. Their rounds are those that may have been sent.
    std::vector<PrivacyPhase> past;
    /// The phase that continues with its own keys: nothing was sent since the checkpoint of a clean
    /// stop and the seeds are available, or the run ends in this phase. None: a new phase begins.
    std::optional<PrivacyPhase> going_on;
    std::vector<KeyRing> rings;  ///< of the local agents in `going_on`; none with a noise seed
    int beginning = 0;           ///< beginning_of the checkpoint
    std::uint32_t key_epoch = 0;
    long first_round = 0;  ///< of that phase
    long round = 0;        ///< completed
    long repeated = 0;     ///< rounds to repeat, whose messages may have been sent
    bool finish = false;   ///< the run ends here: no round is repeated or added
    /// Rounds that count when this many are completed in this start.
    [[nodiscard]] long counted(long completed) const {
        return finish ? round + repeated : completed;
    }
    /// Phases in the local agents' own records. Only rank 0 reports the others.
    std::vector<int> recorded{};
    std::vector<Checkpoint> local;  ///< those that join lack task data: start_joining_agents
    RunTotals totals;
    std::vector<std::string> notes;  ///< on process 0, for the user
};

/// Other processes receive their options from process 0. Checks that no agent continues with
/// own_options that differ from its checkpoint, except those given to its own process. Options that
/// decide what secure sums hide count only with secure sums. LOCAL.
/// @throws NetworkError naming the agent, the option, and both values.
void require_own_options(const std::vector<Checkpoint>& local, const TrainConfig& config);

/// Opens the newest usable checkpoint and compares the local agents' options with it. Until then
/// nothing that the configuration names is read, executed or written. COLLECTIVE.
/// @param members participants from here on.  @param restored receives files from copies and must
/// exist until the run is resumed.
/// @throws DataError, NetworkError, the same on every process; the last for joining agents whose
/// process already has checkpoints of theirs.
[[nodiscard]] FoundCheckpoint open_checkpoint(Network& network,
                                              const TrainConfig& config,
                                              const Membership& members,
                                              RestoredFiles& restored);

/// Determines how the run continues from a checkpoint, given what was sent since. COLLECTIVE.
/// @param members participants from here on.  @param credentials of the local agents, if any.
/// @throws DataError, ConfigError, the same on every process.
[[nodiscard]] Resumption continue_run(Network& network,
                                      const TrainConfig& config,
                                      FoundCheckpoint found,
                                      const RunHistory& history,
                                      const Membership& members,
                                      const std::optional<Credentials>& credentials);

/// Describes how the run continues, as lines of the report.
[[nodiscard]] std::string resumption_text(const ResumedRun& resumed,
                                          const std::vector<std::string>& notes);

// Budget and plan of the phase with which a run continues.

/// @throws DataError if data or model differ from those of the checkpoints.
void require_same_task(const LocalTask& task, const Resumption& resumption);

/// Commits joining agents to their data and starts them where the run began: at its initial model,
/// without momentum, and with means of that model if means are maintained by now.
void start_joining_agents(Resumption& resumption, const LocalTask& task, const TrainConfig& config);

/// Losses of the earlier phases against the coalitions that count.
[[nodiscard]] PrivacyLosses spent_before(const Resumption& resumption,
                                         const PlanConfig& phase,
                                         const Membership& members);

/// @throws ConfigError if some agents do not participate and noise depends on the receiver.
void require_everybody_for(const NoisePlan& plan, const Membership& members);

/// What the earlier phases leave of the participants' budgets, by place.
/// @throws PrivacyError if nothing is left; ConfigError if agents left a run whose noise depends on
/// the receiver.
[[nodiscard]] std::vector<PrivacyBudget> phase_budgets(std::vector<PrivacyBudget> budgets,
                                                       const Resumption& resumption,
                                                       const PlanConfig& phase,
                                                       const Topography& topography,
                                                       const Membership& members);

/// Plans the phase. The noise of a plan file is increased if the remaining budget requires it.
[[nodiscard]] PlannedNoise plan_phase(const SettledPlan& phase,
                                      const Topography& topography,
                                      const CountedRounds& counted,
                                      bool resumed);
/// The plan of a phase that continues.
[[nodiscard]] PlannedNoise kept_plan(const PrivacyPhase& phase, const PlanConfig& config);

/// A phase that continues with its own keys is counted as a whole, so every agent checks that its
/// remaining rounds count as the earlier ones did. @param now the phase as today's options define
/// it.
/// @return the phase of the history, with the session of this start.
/// @throws PrivacyError naming the field and both values.
[[nodiscard]] PrivacyPhase going_on_as(const PrivacyPhase& before,
                                       const PrivacyPhase& now,
                                       const PlanConfig& config);

}  // namespace sotto
