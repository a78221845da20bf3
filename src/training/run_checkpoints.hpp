#pragma once

// Checkpoints of a running training.

#include <optional>

#include "agent/trainer.hpp"
#include "store/checkpoint_store.hpp"
#include "store/own_record.hpp"
#include "store/sent_mark.hpp"
#include "training/open_run.hpp"

namespace sotto {

/// Decides when checkpoints are made, and fills them.
class RunCheckpoints {
  public:
    /// @param run, trainer whose rounds are saved; both are borrowed.
    /// @param phase of the run's history that these rounds belong to.
    RunCheckpoints(const OpenRun& run, const Trainer& trainer, int phase);

    /// Writes every agent's record of what it reveals in this start, and the checkpoint where a new
    /// phase begins: round 0 in a new run. From then on the run can always be resumed. Call it
    /// before anything that depends on data is sent. COLLECTIVE.
    void begin();
    /// In a new run, copies options, plans and phases to other disks. Call it after begin().
    /// COLLECTIVE.
    void copy_beginning();
    [[nodiscard]] bool due(long round) const { return every_ > 0 && round % every_ == 0; }
    /// Call it before anything of the round is sent. Before the first round, erases the seeds that
    /// were saved for this start.
    void before_round(long round);
    /// Makes a checkpoint. COLLECTIVE.
    void seal(long round, bool clean, const RunTotals& totals);
    /// Seconds that the last checkpoint took; 0 if there is none.
    [[nodiscard]] double seconds() const { return seconds_; }

  private:
    void start_mark();
    void keep_records(long round);
    void copy_history();
    /// The entry that this start adds to the record.
    [[nodiscard]] OwnEntry entry_now(const OwnRecord& record, PhaseFacts facts, long round) const;
    [[nodiscard]] const PrivacyPhase& phase() const;
    [[nodiscard]] long sent_until(long round) const;
    void copy(long round, int beginning, long until);
    /// beginning_of a checkpoint after this many rounds.
    [[nodiscard]] int beginning_after(long round) const;
    [[nodiscard]] Checkpoint checkpoint_of(std::size_t local_index, long round) const;
    const OpenRun& run_;
    const Trainer& trainer_;
    long every_;  // rounds; 0: only when the run stops
    int phase_;   // index in the run's history
    std::optional<SentMark> mark_;
    std::vector<int> keepers_;  // by process; empty: all share one disk
    bool seeds_erased_ = false;
    double seconds_ = 0;
};

}  // namespace sotto
