#pragma once

#include <exception>
#include <functional>
#include <optional>

#include "sotto/agent/trainer.hpp"
#include "training/failed_run.hpp"
#include "training/open_run.hpp"
#include "training/training_listener.hpp"
#include "training/training_loop.hpp"

namespace sotto {

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

}  // namespace sotto
