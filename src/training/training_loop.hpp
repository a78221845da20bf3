#pragma once

// The rounds of a training; not installed.

#include <functional>
#include <optional>

#include "sotto/agent/trainer.hpp"
#include "sotto/core/stopwatch.hpp"
#include "training/open_run.hpp"
#include "training/run_checkpoints.hpp"
#include "training/stop_grace.hpp"
#include "training/stop_vote.hpp"
#include "training/training_listener.hpp"

namespace sotto {

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

}  // namespace sotto
