#pragma once

#include <functional>
#include <string>

#include "config/config.hpp"
#include "planning/build_topography.hpp"
#include "sotto/core/stopwatch.hpp"
#include "sotto/net/network.hpp"
#include "tasks/local_task.hpp"
#include "training/open_run.hpp"
#include "training/train_result.hpp"
#include "training/training_listener.hpp"
#include "training/training_rounds.hpp"

namespace sotto {

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
