#pragma once

// The rounds of a training; not installed.

#include <functional>
#include <optional>

#include "run/ledger_views.hpp"
#include "run/run_checkpoints.hpp"
#include "run/stop_vote.hpp"
#include "run/training.hpp"
#include "sotto/agent/trainer.hpp"
#include "sotto/core/stopwatch.hpp"

namespace sotto {

/// Rounds, evaluations, ledger: everything after the bootstrap.
class TrainingLoop {
  public:
    TrainingLoop(const TrainConfig& config,
                 Network& network,
                 TrainingObserver& observer,
                 const std::function<bool()>& stop_requested,
                 Trainer& trainer,
                 Ledger& ledger,
                 LedgerViews* views,
                 RunDirectory& directory,
                 RunCheckpoints& checkpoints,
                 TrainResult& result,
                 bool optimality_gap);

    /// COLLECTIVE.
    void run();

  private:
    /// While a stretch of rounds that began at `start` is not counted yet.
    [[nodiscard]] RunTotals totals(Clock::time_point start) const;
    void evaluate_now(long round);

    const TrainConfig& config_;
    Network& network_;
    TrainingObserver& observer_;
    Trainer& trainer_;
    Ledger& ledger_;
    LedgerViews* views_;  // on process 0
    RunDirectory& directory_;
    RunCheckpoints& checkpoints_;
    TrainResult& result_;
    StopVote vote_;
    long every_;
    bool optimality_gap_;
    std::optional<double> minimum_;
};

}  // namespace sotto
