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

// Taking up a run again.

/// Process 0's history of the run to resume, on every process. COLLECTIVE. @throws DataError,
/// Error (exit code complete: nothing is left to do), the same everywhere.
/// @param most_temporal_values of one plan.
[[nodiscard]] RunHistory share_history(Network& network,
                                       const ResumeConfig& resume,
                                       double most_temporal_values);

/// Where a run is resumed.
struct Resumption {
    /// Phases that are over; their rounds are those that may have left.
    std::vector<PrivacyPhase> past;
    /// The phase goes on with its own keys: nothing was sent since the checkpoint was made at a
    /// clean stop, and the seeds are at hand; or the run ends in it. Otherwise a new phase begins.
    std::optional<PrivacyPhase> going_on;
    std::vector<KeyRing> rings;  ///< of the local agents, for `going_on`; none with a noise seed
    int beginning = 0;           ///< beginning_of the checkpoint
    std::uint32_t key_epoch = 0;
    long first_round = 0;  ///< of that phase
    long round = 0;        ///< completed
    long repeated = 0;     ///< rounds to do again, whose messages may have left
    bool finish = false;   ///< none is done again, nor another: the run ends here
    /// Rounds that count after so many are completed in this start.
    [[nodiscard]] long counted(long completed) const {
        return finish ? round + repeated : completed;
    }
    /// Phases that the local agents' own records have: any other is rank 0's word alone.
    std::vector<int> recorded{};
    std::vector<Checkpoint>
        local;  ///< of who joins without what its task says: start_joining_agents
    RunTotals totals;
    std::vector<std::string> notes;  ///< on process 0: what its user should know
};

/// Options of every process but process 0 come from there: no agent goes on with others of its own
/// (own_options) than its checkpoint has, but for those that its process was given; options that
/// decide what secure sums hide only where sums are used. LOCAL.
/// @throws NetworkError naming the agent, what differs, and both values.
void require_own_options(const std::vector<Checkpoint>& local, const TrainConfig& config);

/// The newest usable checkpoint, the local agents' options compared with it: nothing that the
/// configuration names has been read, executed or written yet. COLLECTIVE.
/// @param members who takes part from here on.  @param restored takes what comes from copies; until
/// the run is resumed it must be there.
/// @throws DataError, NetworkError, the same everywhere; the last for agents that are to join, and
/// whose process has checkpoints of theirs.
[[nodiscard]] FoundCheckpoint open_checkpoint(Network& network,
                                              const TrainConfig& config,
                                              const Membership& members,
                                              RestoredFiles& restored);

/// How the run goes on from a checkpoint, by what was sent since. COLLECTIVE.
/// @param members who takes part from here on.  @param credentials of the local agents, if any.
/// @throws DataError, ConfigError, the same everywhere.
[[nodiscard]] Resumption continue_run(Network& network,
                                      const TrainConfig& config,
                                      FoundCheckpoint found,
                                      const RunHistory& history,
                                      const Membership& members,
                                      const std::optional<Credentials>& credentials);

/// How the run goes on, in lines for the report.
[[nodiscard]] std::string resumption_text(const ResumedRun& resumed,
                                          const std::vector<std::string>& notes);

// The phase with which a run goes on: with which budget and plan.

/// @throws DataError if data or model are not those of the checkpoints.
void require_same_task(const LocalTask& task, const Resumption& resumption);

/// Who joins is committed to its data, and is where the run began: at its initial model, with no
/// momentum, and means of that model where means are kept by now.
void start_joining_agents(Resumption& resumption, const LocalTask& task, const TrainConfig& config);

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
[[nodiscard]] PlannedNoise plan_phase(const SettledPlan& phase,
                                      const Topography& topography,
                                      const CountedRounds& counted,
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
