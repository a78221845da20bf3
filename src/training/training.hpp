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

/// What an evaluation reads by default: 1000 test records and 1000 training records per agent;
/// after the last round the whole test set. Many agents test their models on fewer records each: 4
/// million of all agents together, and after the last round 200 million.
[[nodiscard]] EvaluatedRecords usual_records(bool after_last_round, int agents);

/// Rounds, evaluations, checkpoints and current ledger: begin(), run_round() while more(), then
/// end().
class TrainingLoop {
  public:
    /// Everything is borrowed. @param run receives the progress.
    TrainingLoop(OpenRun& run,
                 Trainer& trainer,
                 TrainingListener& listener,
                 const std::function<bool()>& stop_requested);

    /// Makes the first checkpoint and evaluates the models. COLLECTIVE.
    /// @param compute_seconds of a round, if known; used to advise if time is too short for a stop.
    /// @throws DivergedError, the same on every process; Error on this process only. The next two
    /// throw likewise.
    void begin(std::optional<double> compute_seconds);
    /// False after the last round, or the one after which all stop. The same on every process.
    [[nodiscard]] bool more() const;
    /// Runs the next round and what is due after it. COLLECTIVE.
    void run_round();
    /// Makes this round the last one. All processes call it after the same round. LOCAL.
    void stop_here() { stopped_ = true; }
    /// Computes and evaluates the final models. Call it after the last round. COLLECTIVE.
    void end();

  private:
    /// Includes the rounds that are not counted yet.
    [[nodiscard]] RunTotals totals() const;
    /// Writes the ledger, then the checkpoint, if the run stops before its last round.
    void finish_rounds();
    /// After a round: whether all stop here. Advises if the launcher may leave too little time.
    [[nodiscard]] bool stops();
    /// The round before which all processes are at the same place: with a deadline, where they
    /// evaluate, write a checkpoint, or end.
    [[nodiscard]] long next_meeting() const;
    /// Sets the deadline after measured_rounds. COLLECTIVE.
    void measure_deadline();
    /// Averages models, runs final gossip, and evaluates.
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
    bool ends_here_;  // no round is left
    bool stopped_ = false;
    Clock::time_point stretch_ = Clock::now();  // its start
    long every_;                                // rounds between evaluations
    std::optional<double> minimum_;
    const std::function<bool()>& stop_requested_;
    bool measured_;     // the deadline is known, or there is none
    long started_ = 0;  // round in which this start began
};

/// The rounds of this start, with everything between them and the final models, run one by one by
/// the code that computes gradients. All calls are COLLECTIVE and throw Error in a single process;
/// with several, a failing one ends all (end_failed_run).
class TrainingRounds {
  public:
    /// Takes the run's agents and sums, records its progress, and evaluates the initial models.
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
    void stop_here() { loop_.stop_here(); }
    /// After the last round, writes the models and their agents' reports to the run directory.
    void finish();
    /// The trainer of these rounds. LOCAL.
    [[nodiscard]] Trainer& trainer() { return trainer_; }

  private:
    /// Trains without privacy for comparison, if this process has all agents.
    void compare_without_privacy();
    template <class Step>
    void or_end_all(Step&& step) try {
        step();
    } catch (const std::exception& failure) {
        end_failed_run(open_, failure);
    }

    OpenRun& open_;
    std::optional<double> compute_seconds_;  // of a round, if known
    Trainer trainer_;
    TrainingLoop loop_;
};

/// A training for callers that compute gradients between rounds: if to_survey(), survey() once;
/// then run_round() while more(), then finish() once. All calls are COLLECTIVE.
class Training {
  public:
    /// Bootstrap up to the first round, for every process, as in run_training. Not for a dry run.
    /// Surveys before the first round are left to survey().
    /// @throws Error, the same on every process.
    Training(const TrainConfig& config,
             Network& network,
             TrainingListener& listener,
             std::function<bool()> stop_requested,
             const std::function<LocalTask()>& make_task);
    Training(const Training&) = delete;
    Training& operator=(const Training&) = delete;

    /// Whether rounds are to be paid before those of the training (Survey), for which objectives
    /// must compute gradients.
    [[nodiscard]] bool to_survey() const { return !rounds_; }
    /// @throws Error alone; with several processes, a failing one ends the job.
    void survey();
    [[nodiscard]] bool more() const { return !rounds_ || rounds_->more(); }
    /// Adds the processes' statements on how their agents compute gradients to the ledger, which is
    /// sealed again, and to this start's manifest, together with those of earlier starts. Call it
    /// once, before the first round of this start, surveys included. COLLECTIVE.
    /// @param own one sentence, at most most_line_bytes; empty: none.
    /// @throws Error, the same on every process.
    void state_gradients(const std::string& own);
    /// @throws Error alone; with several processes, a failing one ends the job.
    void run_round() { rounds_->run_next(); }
    /// Makes this round the last one, as a stop request does, but at once. After the surveys; all
    /// processes call it after the same round. LOCAL.
    void stop_here() { rounds_->stop_here(); }
    /// After the last round, completes figures, ledger and models. @throws as run_round, and Error,
    /// the same on every process.
    [[nodiscard]] TrainResult finish();

    /// LOCAL.
    [[nodiscard]] const OpenRun& run() const { return open_; }
    /// After the surveys.
    [[nodiscard]] Trainer& trainer() { return rounds_->trainer(); }

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
    TrainingListener& listener_;
    std::function<bool()> stop_requested_;
    OpenRun open_;
    std::optional<TrainingRounds> rounds_;  // none before the surveys
};

/// The main job: bootstrap (process 0, or every process, builds graph, mixing and plan; all verify;
/// handshake; seeds), rounds, evaluation, ledger, models. COLLECTIVE.
/// @param make_task builds the agents' inputs if config.task does not; COLLECTIVE.
/// @param stop_requested polled on every process. If one returns true, all stop after the same
/// round with the ledger written.
/// @throws Error before the first round, the same on every process. In the rounds a failing process
/// of several reports its round and ends the job (Control::abort); alone, it throws.
[[nodiscard]] TrainResult run_training(const TrainConfig& config,
                                       Network& network,
                                       TrainingListener& listener,
                                       const std::function<bool()>& stop_requested,
                                       const std::function<LocalTask()>& make_task = {});

}  // namespace sotto
