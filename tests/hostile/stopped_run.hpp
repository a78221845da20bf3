#pragma once

#include <string>

#include "cli/program.hpp"

namespace sotto::test {

/// A training of three ranks, one agent each, that was stopped after a checkpoint, and rank 0's own
/// copy of its directory: a run that a dishonest rank 0 resumes with honest others.
class StoppedRun {
  public:
    /// @param more options of the training.
    /// @param identities whether the agents have some, id0 to id2, and a roster.
    explicit StoppedRun(const Arguments& more, bool identities = false);

    /// Rank 0 changes its config.ini, and what its own agent's checkpoint says of the option: its
    /// own program would not do this for it. An empty value deletes the option.
    void set_at_rank_0(const std::string& option, const std::string& value);

    /// Rank 0's directory is again what all had when they were stopped.
    void set_nothing_at_rank_0();

    /// All ranks resume it, rank 0 in its own directory.  @param more options of all.
    [[nodiscard]] Outcome resume(const Arguments& more = {}) const;

    [[nodiscard]] const TempDir& folder() const { return folder_; }
    [[nodiscard]] std::string path(const std::string& name) const { return folder_.path(name); }

  private:
    void change_own_checkpoint(const std::string& option, const std::string& value);

    TempDir folder_;
};

}  // namespace sotto::test
