#pragma once

#include <cstdio>
#include <functional>
#include <optional>
#include <string>

#include "core/stopwatch.hpp"
#include "training/training.hpp"

namespace sotto {

/// Shows the progress of long work on standard error: a bar on a terminal, otherwise one line every
/// few seconds.
class ProgressBar {
  public:
    ProgressBar();
    /// Whether to draw now: ten times a second on a terminal.
    [[nodiscard]] bool due();
    /// @param share in [0, 1].
    void show(double share, const std::string& facts);
    /// Ends the bar's line.
    void finish();
    [[nodiscard]] double elapsed_seconds() const;
    /// Resets the clock.
    void restart();

  private:
    bool terminal_;
    bool shown_ = false;
    Clock::time_point start_, last_;
};

/// "12.3 s", "3:05 min", "2:10 h".
[[nodiscard]] std::string duration_text(double seconds);
/// Few digits even if a training diverges; "unknown" for a NaN.
[[nodiscard]] std::string loss_text(double loss);

/// The epsilon of a progress meter. It belongs to an earlier round if evaluating the current one
/// would take more than a fiftieth of the time: with sampled rounds each evaluation takes
/// milliseconds.
class MeteredEpsilon {
  public:
    /// @param find evaluates epsilon.  @param seconds the current time.
    void update(const std::function<double()>& find, const std::function<double()>& seconds);
    void set(double known) { value_ = known; }
    [[nodiscard]] double value() const { return value_; }

  private:
    double value_ = 0, next_ = 0;
};

/// The command that resumes a run from its directory.
[[nodiscard]] std::string command_to_go_on(const TrainConfig& config,
                                           int processes,
                                           const std::string& run_directory);

/// Shows a training on standard error: rate, remaining time, loss and epsilon spent. Task and plan
/// go to `report` first, in full with --verbose; log.txt of the run always has everything.
/// Interrupts request a stop during the rounds only (stop_signal.hpp).
class Progress : public TrainingListener {
  public:
    /// @param report null: silent.
    explicit Progress(std::FILE* report);
    void on_start(const TrainingStart& start) override;
    void on_rounds() override;
    void on_round(long completed, long rounds, const Ledger& ledger) override;
    void on_evaluation(long completed, double epsilon, const Evaluation& evaluation) override;
    void on_analysis() override;
    /// Says so once the preparation takes long.
    void on_preparing(std::string_view step) override;
    /// Ends the bar's line.
    void finish();

  private:
    void show(long completed, long rounds);
    /// Writes to the user and to the log.
    void tell(const std::string& text);
    std::FILE* report_;
    std::string run_directory_;  // of the log; empty: no log
    ProgressBar bar_;
    std::optional<long> before_;  // rounds of earlier starts
    double loss_ = not_a_number;
    MeteredEpsilon epsilon_;
    double next_line_ = 0;  // time of the next log line [s]
};

}  // namespace sotto
