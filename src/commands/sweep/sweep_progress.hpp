#pragma once

#include <cstdio>

#include "commands/sweep/sweep_job.hpp"
#include "training/progress.hpp"

namespace sotto::cli {

/// Shows how a sweep goes, and answers requests to stop as it says.
class SweepProgress : public SweepListener {
  public:
    /// @param report null: nothing is shown.
    explicit SweepProgress(std::FILE* report) : report_(report) {}

    void on_start(std::size_t cells, long trainings, long known, bool at_least) override;
    void on_progress(long finished, long left, bool at_least) override;
    void on_stops_answered(bool soon) override;
    void finish() { bar_.finish(); }

  private:
    std::FILE* report_;
    ProgressBar bar_;
};

}  // namespace sotto::cli
