#pragma once

#include <cstdio>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "commands/sweep/sweep_file.hpp"
#include "commands/sweep/sweep_folder.hpp"
#include "commands/sweep/sweep_grid.hpp"
#include "commands/sweep/sweep_result.hpp"
#include "config/config.hpp"
#include "net/network.hpp"
#include "training/progress.hpp"
#include "training/train_result.hpp"

namespace sotto {
/// Receives the progress of a sweep; on process 0 only, except on_stops_answered.
class SweepListener {
  public:
    virtual ~SweepListener() = default;
    /// @param known trainings from earlier starts.  @param at_least further values may add more
    /// trainings.
    virtual void on_start(std::size_t /*cells*/,
                          long /*trainings*/,
                          long /*known*/,
                          bool /*at_least*/) {}
    /// @param finished trainings since the start, by all processes.  @param left trainings.
    virtual void on_progress(long /*finished*/, long /*left*/, bool /*at_least*/) {}
    /// Called on every process. @param soon whether stop requests are answered soon from now on:
    /// true between rounds and trainings, false while a training is prepared.
    virtual void on_stops_answered(bool /*soon*/) {}
    /// A private choice is planned; on_start follows.
    virtual void on_choice(const SweepConfig&, const ChoicePlan&) {}
};

/// Reads and checks the options of a training. @throws ConfigError.
using ReadTrainConfig = std::function<TrainConfig(const std::string& ini)>;

/// Runs every training of the grid that no earlier start has done. COLLECTIVE.
/// Each training runs in one process. A process takes the next free training, claims it by a file
/// in the shared folder, and waits only while none is free. SweepBoard says what each cell needs
/// next. A training that diverges or fails does not affect the others.
/// Outcomes are in DIR/trainings, run directories in DIR/runs. Process 0 writes DIR/runs.csv (one
/// row per training) and DIR/results.csv (one row per cell: means over the seeds, with half widths
/// of 95% intervals of Student's t).
/// With SweepConfig::private_choice, the trainings are drawn and the best alone is released
/// (private_sweep.hpp); there are no tables.
/// @throws ConfigError before the first training, for wrong options, or a folder that is in use or
/// not shared.
[[nodiscard]] SweepResult run_sweep(const SweepConfig& config,
                                    const ReadTrainConfig& read,
                                    Network& network,
                                    SweepListener& observer,
                                    const std::function<bool()>& stop_requested);
}  // namespace sotto

namespace sotto {
/// The state of the cells of a sweep, and the trainings they need next. LOCAL.
/// While the best candidate of a cell ended well and has an untried neighbour (neighbours_of),
/// that neighbour becomes a candidate. Then the best is chosen and measured. The next trainings
/// follow from the outcomes alone, so processes that see the same outcomes need not communicate.
class SweepBoard {
  public:
    using OutcomeOf = std::function<std::optional<SweepOutcome>(const SweepTraining&)>;

    /// @throws ConfigError as sweep_cells does.
    explicit SweepBoard(SweepConfig config);
    /// Of a private choice: the best of the trainings of one cell (drawn_cell) is chosen, and
    /// nothing is measured.
    SweepBoard(SweepConfig config, SweepCell drawn);

    /// Reads outcomes and advances the cells. It asks about each training until it has ended, then
    /// never again.
    /// @throws ConfigError if the trainings have no metric `choose_by`.
    void update(const OutcomeOf& outcome_of);

    /// Trainings needed so far that have not ended: those that validate, cell by cell, then those
    /// that measure.
    [[nodiscard]] std::vector<SweepTraining> open() const;
    /// How many trainings will measure cells whose candidate is not chosen yet.
    [[nodiscard]] long later() const;
    /// The number of all trainings, ended, open and `later`.
    [[nodiscard]] long trainings() const;
    /// Whether there may be more trainings: a cell may still try further values.
    [[nodiscard]] bool may_grow() const;

    [[nodiscard]] const std::vector<SweepCell>& cells() const { return cells_; }
    [[nodiscard]] const std::vector<CellResult>& results() const { return results_; }

  private:
    void go_on(std::size_t cell);
    void add_candidate(std::size_t cell, std::size_t candidate, bool further);
    void choose(std::size_t cell, std::size_t candidate);

    SweepConfig config_;
    std::vector<SweepCell> cells_;
    std::vector<CellResult> results_;  // one per cell
};
}  // namespace sotto

namespace sotto {
/// Runs one training of a sweep, with all agents in this process, into its run directory. LOCAL.
/// @param read gives the configuration; an exception counts as a failed training.
/// @param discard removes the run directory of an earlier attempt, or of this one.
/// @return how it ended, also if it diverged or failed. Nothing if it was stopped; then its run
/// directory is removed.
[[nodiscard]] std::optional<SweepOutcome> train_once(const std::function<TrainConfig()>& read,
                                                     const std::filesystem::path& run_directory,
                                                     const std::function<void()>& discard,
                                                     int threads,
                                                     TrainingListener& listener,
                                                     const std::function<bool()>& stop_requested);
}  // namespace sotto

namespace sotto::cli {
/// Shows the progress of a sweep, and how soon stop requests are answered.
class SweepProgress : public SweepListener {
  public:
    /// @param report null: shows nothing.
    explicit SweepProgress(std::FILE* report) : report_(report) {}

    void on_start(std::size_t cells, long trainings, long known, bool at_least) override;
    void on_progress(long finished, long left, bool at_least) override;
    void on_stops_answered(bool soon) override;
    void on_choice(const SweepConfig& config, const ChoicePlan& plan) override;
    void finish() { bar_.finish(); }

  private:
    std::FILE* report_;
    ProgressBar bar_;
};
}  // namespace sotto::cli
