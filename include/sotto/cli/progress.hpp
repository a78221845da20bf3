#pragma once

#include <chrono>
#include <cstdio>
#include <optional>

#include "sotto/experiment/train_job.hpp"

namespace sotto::cli {

/// Shows a training on standard error: a bar with rate, remaining time, loss and epsilon spent on a
/// terminal, one line every few seconds otherwise. The report of the plan goes to `report` first.
class Progress : public TrainingObserver {
  public:
    /// @param report null: silent.
    explicit Progress(std::FILE* report);
    void on_start(const PlannedNoise& planned,
                  const BuiltTopography& built,
                  const std::string& task,
                  const std::string& plan_report,
                  const RunEstimate* estimate) override;
    void on_round(long completed, long rounds) override;
    void on_evaluation(long completed, double epsilon, const Evaluation& evaluation) override;
    /// Ends the bar's line.
    void finish();

  private:
    void show(long completed, long rounds);
    using Clock = std::chrono::steady_clock;
    std::FILE* report_;
    bool terminal_;
    bool bar_shown_ = false;
    Clock::time_point start_, last_;
    std::optional<long> before_;  // rounds of earlier starts
    double loss_ = 0, epsilon_ = 0;
};

/// The table at the end of a training.
[[nodiscard]] std::string summary_text(const TrainResult& result, const TrainConfig& config);

}  // namespace sotto::cli
