#pragma once

#include <cstdio>
#include <optional>
#include <string>

#include "run/training.hpp"
#include "sotto/core/stopwatch.hpp"

namespace sotto::cli {

/// How far long work has come, on standard error: a bar on a terminal, one line every few seconds
/// otherwise.
class ProgressBar {
  public:
    ProgressBar();
    /// Whether it is time to show something: ten times a second on a terminal.
    [[nodiscard]] bool due();
    /// @param share in [0, 1].
    void show(double share, const std::string& facts);
    /// Ends the bar's line.
    void finish();
    [[nodiscard]] double elapsed_seconds() const;
    /// Time starts now.
    void restart();

  private:
    bool terminal_;
    bool shown_ = false;
    Clock::time_point start_, last_;
};

/// "12.3 s", "3:05 min", "2:10 h".
[[nodiscard]] std::string duration_text(double seconds);
/// In few digits also where a training goes wrong; "unknown" for a NaN.
[[nodiscard]] std::string loss_text(double loss);

/// Shows a training on standard error: rate, remaining time, loss and epsilon spent. The report of
/// the plan goes to `report` first. Interrupts ask for a stop in the rounds only (stop_signal.hpp).
class Progress : public TrainingListener {
  public:
    /// @param report null: silent.
    explicit Progress(std::FILE* report);
    void on_start(const PlannedNoise& planned,
                  const BuiltTopography& built,
                  const std::string& task,
                  const std::string& plan_report,
                  const RunEstimate* estimate) override;
    void on_rounds() override;
    void on_round(long completed, long rounds) override;
    void on_evaluation(long completed, double epsilon, const Evaluation& evaluation) override;
    void on_analysis() override;
    /// Ends the bar's line.
    void finish();

  private:
    void show(long completed, long rounds);
    std::FILE* report_;
    ProgressBar bar_;
    std::optional<long> before_;  // rounds of earlier starts
    double loss_ = 0, epsilon_ = 0;
};

}  // namespace sotto::cli
