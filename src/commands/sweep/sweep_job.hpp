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
/// Told about a sweep as it goes; on process 0 only, unless said.
class SweepListener {
  public:
    virtual ~SweepListener() = default;
    /// @param at_least further values may add to these trainings.
    virtual void on_start(std::size_t /*cells*/,
                          long /*trainings*/,
                          long /*known*/,
                          bool /*at_least*/) {}
    /// @param finished since the start, by all processes.  @param left trainings.
    virtual void on_progress(long /*finished*/, long /*left*/, bool /*at_least*/) {}
    /// On every process: whether requests to stop are answered soon from here on, as between rounds
    /// and trainings; not where a training is prepared.
    virtual void on_stops_answered(bool /*soon*/) {}
};

/// The options of a training, checked. @throws ConfigError.
using ReadTrainConfig = std::function<TrainConfig(const std::string& ini)>;

/// Runs every training of the grid that is not known from an earlier start, each in one process;
/// processes take the next one when they are done (a file per training in the folder that all share
/// says who has it). Cells go on by themselves: with the values beside the best, as soon as the
/// last training that chooses is done, then with those that measure (SweepBoard); a process waits
/// only while none of these is free. A training that diverges, or fails, leaves the others alone.
/// Figures are in DIR/trainings, run directories in DIR/runs, and process 0 writes DIR/runs.csv
/// (one row a training) and DIR/results.csv (one row a cell; means over the seeds with half widths
/// of 95% intervals of Student's t). COLLECTIVE.
/// @throws ConfigError before the first training for options, or a folder that is not shared or in
/// use.
[[nodiscard]] SweepResult run_sweep(const SweepConfig& config,
                                    const ReadTrainConfig& read,
                                    Network& network,
                                    SweepListener& observer,
                                    const std::function<bool()>& stop_requested);
}  // namespace sotto

namespace sotto {
/// The cells of a sweep, how far each has come, and which trainings it needs next. While the best
/// candidate of a cell has a neighbour (neighbours_of) that is no candidate yet, that becomes one,
/// if the best has ended well; then the best is chosen, and measured. What comes next follows from
/// how trainings have ended, whoever trained them, so that processes that see the same outcomes
/// need not tell each other. LOCAL.
class SweepBoard {
  public:
    using OutcomeOf = std::function<std::optional<SweepOutcome>(const SweepTraining&)>;

    /// @throws ConfigError as sweep_cells does.
    explicit SweepBoard(SweepConfig config);

    /// Takes in how trainings have ended and goes on with their cells. Asks about every training
    /// again until it has ended, and never after.
    /// @throws ConfigError if the trainings have no figure `choose_by`.
    void update(const OutcomeOf& outcome_of);

    /// Trainings that are needed, as far as is known, and have not ended: those that choose, cell
    /// by cell, then those that measure.
    [[nodiscard]] std::vector<SweepTraining> open() const;
    /// How many will measure cells whose candidate is not chosen yet.
    [[nodiscard]] long later() const;
    /// All, those that have ended and `later` ones among them.
    [[nodiscard]] long trainings() const;
    /// Whether there may be more than these: a cell may still try further values.
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
/// One training of a sweep, all agents in this process: its run directory, and how it ended. A
/// training that diverges or fails is an outcome too. LOCAL.
/// @param read gives the configuration; what it throws counts as a failure.  @param discard removes
/// the run directory of an earlier attempt, or of this one.  @param listener of the training.
/// @return nothing where it was stopped; then its run directory is gone.
[[nodiscard]] std::optional<SweepOutcome> train_once(const std::function<TrainConfig()>& read,
                                                     const std::filesystem::path& run_directory,
                                                     const std::function<void()>& discard,
                                                     int threads,
                                                     TrainingListener& listener,
                                                     const std::function<bool()>& stop_requested);
}  // namespace sotto

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
