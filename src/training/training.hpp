#pragma once

#include <exception>
#include <functional>
#include <optional>
#include <string>

#include "agent/trainer.hpp"
#include "config/config.hpp"
#include "core/stopwatch.hpp"
#include "net/network.hpp"
#include "planning/build_topography.hpp"
#include "tasks/local_task.hpp"
#include "training/open_run.hpp"
#include "training/run_checkpoints.hpp"
#include "training/stop_signal.hpp"
#include "training/train_result.hpp"

namespace sotto {

// The rounds of a training.

/// What an evaluation reads unless the user says otherwise: 1000 test records and 1000 training
/// records an agent; after the last round the whole test set.
[[nodiscard]] EvaluatedRecords usual_records(bool after_last_round);

/// Rounds, evaluations, checkpoints, and the ledger as they go: begin(), run_round() while there
/// are more(), end().
class TrainingLoop {
  public:
    /// Everything is borrowed. @param run whose progress is kept.
    TrainingLoop(OpenRun& run,
                 Trainer& trainer,
                 TrainingListener& listener,
                 const std::function<bool()>& stop_requested);

    /// The checkpoint to begin from, and what the models are worth. COLLECTIVE.
    /// @param compute_seconds of a round, where known: said where a stop would not fit.
    /// @throws DivergedError, the same on every process; Error of this process alone; as the next
    /// two.
    void begin(std::optional<double> compute_seconds);
    /// Until the last round, or the one after which all stop. The same on every process.
    [[nodiscard]] bool more() const;
    /// The next round, and what is due after it. COLLECTIVE.
    void run_round();
    /// After the last one: models that agents end up with, and what they are worth. COLLECTIVE.
    void end();

  private:
    /// With the stretch of rounds that is not counted yet.
    [[nodiscard]] RunTotals totals() const;
    /// The ledger first, then the checkpoint, of a run that stops before its last round.
    void finish_rounds();
    /// After a round; whether all stop here, for which the launcher may leave too little time.
    [[nodiscard]] bool stops();
    /// Means of models and final gossip, and what they are worth.
    void finish_models();
    [[nodiscard]] EvaluatedRecords records_now() const;
    void evaluate_now(ModelStage stage = ModelStage::last);
    void report_evaluation(ModelStage stage);

    OpenRun& open_;
    const Run& run_;
    Trainer& trainer_;
    TrainingListener& listener_;
    RunProgress& progress_;
    RunCheckpoints checkpoints_;
    StopVote vote_;
    StopGrace grace_;
    bool ends_here_;  // no round is left to do
    bool stopped_ = false;
    Clock::time_point stretch_ = Clock::now();  // began then
    long every_;                                // rounds between evaluations
    std::optional<double> minimum_;
};

/// The rounds of this start, with everything that happens between them, and the models at the end,
/// asked for one by one by whoever has the gradients. All calls are COLLECTIVE, and throw Error in
/// one process; of several, one that fails ends all (end_failed_run).
class TrainingRounds {
  public:
    /// Takes the run's agents and sums, and keeps its progress; evaluates what rounds begin with.
    /// Everything is borrowed.
    TrainingRounds(OpenRun& run,
                   TrainingListener& listener,
                   const std::function<bool()>& stop_requested);
    TrainingRounds(const TrainingRounds&) = delete;
    TrainingRounds& operator=(const TrainingRounds&) = delete;

    [[nodiscard]] bool more() const { return loop_.more(); }
    void run_next() {
        or_end_all([this] { loop_.run_round(); });
    }
    /// After the last round: models, and their agents' reports, in the run directory.
    void finish();
    /// Whose rounds these are. LOCAL.
    [[nodiscard]] Trainer& trainer() { return trainer_; }

  private:
    /// What all agents, which are of this process, come to without privacy.
    void compare_without_privacy();
    template <class Step>
    void or_end_all(Step&& step) try {
        step();
    } catch (const std::exception& failure) {
        end_failed_run(open_, failure);
    }

    OpenRun& open_;
    std::optional<double> compute_seconds_;  // of a round, where known
    Trainer trainer_;
    TrainingLoop loop_;
};

/// A training whose rounds are asked for one by one, by whoever computes gradients between them:
/// run_round() while there are more(), then finish(), once. All calls are COLLECTIVE.
class Training {
  public:
    /// Bootstrap up to the first round; as run_training, which all are. Not of a dry run.
    /// @throws Error, the same on every process.
    Training(const TrainConfig& config,
             Network& network,
             TrainingListener& listener,
             std::function<bool()> stop_requested,
             const std::function<LocalTask()>& make_task);
    Training(const Training&) = delete;
    Training& operator=(const Training&) = delete;

    [[nodiscard]] bool more() const { return rounds_.more(); }
    /// What the agent of each process says about how it finds gradients goes to the ledger, sealed
    /// again, and to this start's manifest, with what earlier starts of the run said there. Before
    /// the first round of this start, once. COLLECTIVE.
    /// @param own one sentence, at most most_line_bytes; empty: nothing.
    /// @throws Error, the same on every process.
    void state_gradients(const std::string& own);
    /// @throws Error alone; of several processes, one that fails ends the job.
    void run_round() { rounds_.run_next(); }
    /// After the last round: figures, ledger, models. @throws as run_round, and Error, the same on
    /// every process.
    [[nodiscard]] TrainResult finish();

    /// LOCAL.
    [[nodiscard]] const OpenRun& run() const { return open_; }
    [[nodiscard]] Trainer& trainer() { return rounds_.trainer(); }

  private:
    friend TrainResult run_training(const TrainConfig&,
                                    Network&,
                                    TrainingListener&,
                                    const std::function<bool()>&,
                                    const std::function<LocalTask()>&);
    Training(Clock::time_point start,
             PreparedRun prepared,
             TrainingListener& listener,
             std::function<bool()> stop_requested);

    Clock::time_point start_;
    std::function<bool()> stop_requested_;
    OpenRun open_;
    TrainingRounds rounds_;
};

/// The main job: bootstrap (process 0, or every process, builds graph, mixing and plan; all verify;
/// handshake; seeds), rounds, evaluation, ledger, models. COLLECTIVE.
/// @param make_task the agents' inputs where config.task does not say; COLLECTIVE.
/// @param stop_requested polled on every process; when one says yes, all stop after the same round
/// with the ledger written.
/// @throws Error before the first round, the same on every process. In the rounds a failing process
/// of several reports its round and ends the job (Network::abort); alone, it throws.
[[nodiscard]] TrainResult run_training(const TrainConfig& config,
                                       Network& network,
                                       TrainingListener& listener,
                                       const std::function<bool()>& stop_requested,
                                       const std::function<LocalTask()>& make_task = {});

}  // namespace sotto
