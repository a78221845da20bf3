#pragma once

#include <cstdio>
#include <functional>
#include <optional>
#include <string>

#include "core/stopwatch.hpp"
#include "training/training.hpp"

namespace sotto {

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

/// The epsilon that a meter shows: of the round it shows, or of an earlier one where more than a
/// fiftieth of the time would be spent on finding it. Of sampled rounds that takes milliseconds.
class MeteredEpsilon {
  public:
    /// @param find evaluates it.  @param seconds what time it is.
    void update(const std::function<double()>& find, const std::function<double()>& seconds);
    void set(double known) { value_ = known; }
    [[nodiscard]] double value() const { return value_; }

  private:
    double value_ = 0, next_ = 0;
};

/// How a run is resumed from its directory, as a command.
[[nodiscard]] std::string command_to_go_on(const TrainConfig& config,
                                           int processes,
                                           const std::string& run_directory);

/// Shows a training on standard error: rate, remaining time, loss and epsilon spent. What is learnt
/// and planned goes to `report` first, everything about it with --verbose; log.txt of the run has
/// it all. Interrupts ask for a stop in the rounds only (stop_signal.hpp).
class Progress : public TrainingListener {
  public:
    /// @param report null: silent.
    explicit Progress(std::FILE* report);
    void on_start(const TrainingStart& start) override;
    void on_rounds() override;
    void on_round(long completed, long rounds, const Ledger& ledger) override;
    void on_evaluation(long completed, double epsilon, const Evaluation& evaluation) override;
    void on_analysis() override;
    /// Ends the bar's line.
    void finish();

  private:
    void show(long completed, long rounds);
    /// To people and to the log.
    void tell(const std::string& text);
    std::FILE* report_;
    std::string run_directory_;  // where the log is; empty: none
    ProgressBar bar_;
    std::optional<long> before_;  // rounds of earlier starts
    double loss_ = not_a_number;
    MeteredEpsilon epsilon_;
    double next_line_ = 0;  // of the log: seconds from which on it is due
};

}  // namespace sotto
