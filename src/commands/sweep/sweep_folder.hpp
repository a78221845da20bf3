#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "commands/sweep/sweep_grid.hpp"
#include "core/files.hpp"
#include "net/network.hpp"
#include "sotto/core/names.hpp"

namespace sotto {

/// Metrics of a training that a sweep keeps, by their names in summary.json.
[[nodiscard]] const std::vector<std::string>& sweep_metrics();

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

/// A file that says how a training ended. @param options of the training, as a configuration file.
[[nodiscard]] std::string to_json(const SweepOutcome& outcome, const std::string& options);
/// @throws DataError naming the file, and what to do.
[[nodiscard]] SweepOutcome outcome_from_json(const std::filesystem::path& file);

/// Where a sweep keeps what it knows; the same folder for every process: trainings/KEY.json how
/// they ended, runs/KEY their run directories, claims/START/KEY who trains them now, spent/RUN the
/// ledgers of runs whose directories are gone, claims/START/going-on that nobody has stopped.
class SweepFolder {
  public:
    /// Makes the folder where it is not there, and locks it until the object is gone; claims of an
    /// earlier start are removed. COLLECTIVE.
    /// @throws ConfigError for a folder that cannot be used, that another sweep uses, or that the
    /// processes do not share.
    SweepFolder(std::filesystem::path path, Network& network);

    [[nodiscard]] std::filesystem::path run_of(const SweepTraining& training) const;
    /// Removes its run directory; what the run has revealed stays in spent/.
    void discard_run(const SweepTraining& training) const;
    /// How a training ended; nothing where that is not known.
    [[nodiscard]] std::optional<SweepOutcome> outcome(const SweepTraining& training) const;
    /// Trainings of which that is not known.
    [[nodiscard]] long missing(const std::vector<SweepTraining>& trainings) const;
    /// True for one of the processes that ask, and for nobody where the outcome is known.
    [[nodiscard]] bool claim(const SweepTraining& training) const;
    /// Whether a process of this start has, or had, it.
    [[nodiscard]] bool claimed(const SweepTraining& training) const;
    void keep(const SweepTraining& training, const SweepOutcome& outcome) const;
    /// Failures may have passed since an earlier start; what diverged does so again.
    void forget_failure(const SweepTraining& training) const;
    void remove_claims() const;

    /// Until a process calls stop(): then what it has claimed may never end. Works on a full disk.
    [[nodiscard]] bool going_on() const;
    void stop() const;

  private:
    [[nodiscard]] bool known(const SweepTraining& training) const;
    [[nodiscard]] std::filesystem::path outcome_file(const SweepTraining& training) const;
    [[nodiscard]] std::filesystem::path claim_file(const SweepTraining& training) const;
    [[nodiscard]] std::filesystem::path going_on_file() const;

    std::filesystem::path path_;
    std::string start_;  // names the claims of this start
    std::optional<FileLock> lock_;
};

}  // namespace sotto
