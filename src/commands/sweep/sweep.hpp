#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "run/config.hpp"
#include "sotto/core/names.hpp"
#include "sotto/net/network.hpp"

namespace sotto {

/// An option of `sotto train` with its value, as a user writes them.
using OptionValue = std::pair<std::string, std::string>;
using OptionValues = std::vector<OptionValue>;

/// An option of `sotto train` and the values to try.
struct SweepSetting {
    std::string option;
    std::vector<std::string> values;  ///< at least one
};

/// Settings that belong together, as a section of a sweep file gives them; a grid over all of them
/// that have several values.
struct SweepVariant {
    std::string name;
    std::vector<SweepSetting> settings;  ///< every option once
};

/// What a sweep file says (docs/sweeps.md).
struct SweepConfig {
    std::vector<SweepVariant> variants;
    std::vector<std::string> seeds{"1"};
    /// Options whose value is chosen for every cell where they have several: the best mean of
    /// `choose_by` over the validation seeds, on a part of the training data held out.
    std::vector<std::string> choose{"step-size"};
    std::string choose_by = "test_loss";
    std::vector<std::string> validation_seeds{"101"};
    double validation_fraction = 0.2;
    bool keep_runs = true;            ///< run directories, beside their figures
    std::optional<std::string> plot;  ///< option on the x axis of a picture
    std::filesystem::path directory;
    int threads = 1;  ///< of one training
    /// What is in the files that options name (file_digests). run_sweep sets it, and whatever
    /// trainings depend on a file that has changed are new trainings.
    std::map<std::string, std::string> files;
};

/// Everything but the seed, and the values chosen.
struct SweepCell {
    std::string variant;
    OptionValues fixed;                    ///< all options with one value here
    OptionValues varied;                   ///< those of `fixed` that tell cells apart
    std::vector<OptionValues> candidates;  ///< values to choose between; one, maybe empty, if none
};

struct SweepTraining {
    std::size_t cell = 0, candidate = 0;
    std::string seed;
    bool validation = false;
    std::string ini;  ///< its options, as a configuration file
    std::string key;  ///< digest of the options, the program's version and the files that options
                      ///< name: names its own files
};

/// Metrics of a training that a sweep keeps, by their names in summary.json.
[[nodiscard]] const std::vector<std::string>& sweep_metrics();

/// Digests, as hexadecimal digits, of the files that values of options name, by their names: data,
/// graphs, weights, plans; also several in one value, between commas. Cost: reads each file once.
[[nodiscard]] std::map<std::string, std::string> file_digests(const SweepConfig& config);

/// The cells of a sweep, variant by variant; the last setting varies fastest.
/// @throws ConfigError for values that do not belong into a sweep.
[[nodiscard]] std::vector<SweepCell> sweep_cells(const SweepConfig& config);
/// The trainings that choose, and those that measure one candidate. `seed` as the value of
/// graph-seed or noise-seed stands for the training's seed; validation takes validation_fraction
/// of the training data to test on instead of the test data.
[[nodiscard]] std::vector<SweepTraining> validation_trainings(const SweepConfig& config,
                                                              const std::vector<SweepCell>& cells);
[[nodiscard]] std::vector<SweepTraining> test_trainings(const SweepConfig& config,
                                                        const std::vector<SweepCell>& cells,
                                                        std::size_t cell,
                                                        std::size_t candidate);

/// How a training ended.
struct SweepOutcome {
    enum class Status { done, diverged, failed };
    Status status = Status::done;
    std::string error;  ///< one line, where it failed
    int exit_code = 0;  ///< of that error
    double seconds = 0;
    std::map<std::string, double> metrics;  ///< of one that is done; NaN where there is none
};
/// Their names in files and tables.
inline constexpr NameTable<SweepOutcome::Status, 3> sweep_statuses{
    {{{SweepOutcome::Status::done, "done"},
      {SweepOutcome::Status::diverged, "diverged"},
      {SweepOutcome::Status::failed, "failed"}}}};

/// One training with how it ended, where it did.
struct SweepRow {
    SweepTraining training;
    std::optional<SweepOutcome> outcome;
};

/// One cell, measured.
struct CellResult {
    std::optional<std::size_t> candidate;  ///< chosen; none if validation is not over
    bool at_edge = false;                  ///< the value chosen is the first or last that was tried
    std::vector<SweepRow> validation, test;
};

struct SweepResult {
    std::vector<SweepCell> cells;
    std::vector<CellResult> results;  ///< one per cell
    long trainings = 0, done = 0, diverged = 0, failed = 0;
    long reused = 0;  ///< of these, from earlier starts
    bool interrupted = false;
    double seconds = 0;
    std::optional<SweepOutcome> first_failure;
    std::string picture;  ///< path; empty if there is none
};

/// Told about a sweep as it goes; on process 0 only.
class SweepListener {
  public:
    virtual ~SweepListener() = default;
    virtual void on_start(std::size_t /*cells*/, long /*trainings*/, long /*known*/) {}
    /// @param finished since the start, by all processes.  @param left trainings.
    virtual void on_progress(long /*finished*/, long /*left*/) {}
};

/// The options of a training, checked. @throws ConfigError.
using ReadTrainConfig = std::function<TrainConfig(const std::string& ini)>;

/// Runs every training of the grid that is not known from an earlier start, each in one process;
/// processes take the next one when they are done (a file per training in the folder that all share
/// says who has it). A training that diverges, or fails, leaves the others alone. Figures are in
/// DIR/trainings, run directories in DIR/runs, and process 0 writes DIR/runs.csv (one row a
/// training) and DIR/results.csv (one row a cell; means over the seeds with half widths of 95%
/// intervals of Student's t). COLLECTIVE.
/// @throws ConfigError before the first training for options, or a folder that is not shared or in
/// use.
[[nodiscard]] SweepResult run_sweep(const SweepConfig& config,
                                    const ReadTrainConfig& read,
                                    Network& network,
                                    SweepListener& observer,
                                    const std::function<bool()>& stop_requested);

/// Mean of a metric over the test seeds of a cell, and the half width of its 95% interval (NaN with
/// one seed). Nothing unless all trainings are done, and have it.
struct SweepMean {
    double mean = 0, half_width = 0;
};
[[nodiscard]] std::optional<SweepMean> mean_of(const CellResult& result, const std::string& metric);

/// One row per cell, and one per training, as CSV with a header.
[[nodiscard]] std::string cells_csv(const SweepConfig& config, const SweepResult& result);
[[nodiscard]] std::string trainings_csv(const SweepConfig& config, const SweepResult& result);
/// The picture of choose_by over the option `plot`, a line per variant; nothing where gnuplot or
/// figures are missing. @return its path.
[[nodiscard]] std::string draw_sweep(const SweepConfig& config, const SweepResult& result);
/// The JSON object of `sotto sweep` (docs/cli.md), as text, and a table for people.
[[nodiscard]] std::string sweep_report_json(const SweepConfig& config, const SweepResult& result);
[[nodiscard]] std::string sweep_report_text(const SweepConfig& config, const SweepResult& result);

}  // namespace sotto
