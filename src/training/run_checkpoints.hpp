#pragma once

// Checkpoints of a training under way.

#include <optional>

#include "agent/trainer.hpp"
#include "store/checkpoint_store.hpp"
#include "store/own_record.hpp"
#include "store/sent_mark.hpp"
#include "training/open_run.hpp"

namespace sotto {

/// When checkpoints are made, and what is in them.
class RunCheckpoints {
  public:
    /// @param run, trainer whose rounds are kept; both are borrowed.
    RunCheckpoints(const OpenRun& run, const Trainer& trainer);

    /// Before anything that depends on data is sent: every agent's record of what it reveals in
    /// this start, and the checkpoint from which a new phase begins, of round 0 in a run that
    /// begins: from then on it can be resumed whenever it ends. COLLECTIVE.
    void begin();
    /// After it, of a run that begins: copies on other disks of options, plans and phases.
    /// COLLECTIVE.
    void copy_beginning();
    [[nodiscard]] bool due(long round) const { return every_ > 0 && round % every_ == 0; }
    /// Before anything of the round is sent. Before the first one, seeds that were kept for the
    /// start that has come are erased.
    void before_round(long round);
    /// COLLECTIVE.
    void seal(long round, bool clean, const RunTotals& totals);
    /// The last one took [s]; 0 before there is one.
    [[nodiscard]] double seconds() const { return seconds_; }

  private:
    void start_mark();
    void keep_records(long round);
    void copy_history();
    /// What the record gains by this start.
    [[nodiscard]] OwnEntry entry_now(const OwnRecord& record, int number, long round) const;
    [[nodiscard]] long sent_until(long round) const;
    void copy(long round, int beginning, long until);
    /// Of a checkpoint after so many rounds.
    [[nodiscard]] int beginning_after(long round) const;
    [[nodiscard]] Checkpoint checkpoint_of(std::size_t local_index, long round) const;
    const OpenRun& run_;
    const Trainer& trainer_;
    long every_;  // rounds; 0: only where the run is stopped
    int phase_;   // of the run's history
    Digest plan_hash_;
    std::optional<SentMark> mark_;
    std::vector<int> keepers_;  // by process; empty: all share one disk
    bool seeds_erased_ = false;
    double seconds_ = 0;
};

}  // namespace sotto
