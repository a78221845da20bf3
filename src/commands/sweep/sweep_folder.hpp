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

/// The metrics of a training that a sweep keeps; names as in summary.json.
[[nodiscard]] const std::vector<std::string>& sweep_metrics();

/// How a training ended.
struct SweepOutcome {
    enum class Status { done, diverged, failed };
    Status status = Status::done;
    std::string error;  ///< one line, if it failed
    int exit_code = 0;  ///< of that error
    double seconds = 0;
    std::map<std::string, double> metrics;  ///< if it is done; NaN for a missing one
};
/// Their names in files and tables.
inline constexpr NameTable<SweepOutcome::Status, 3> sweep_statuses{
    {{{SweepOutcome::Status::done, "done"},
      {SweepOutcome::Status::diverged, "diverged"},
      {SweepOutcome::Status::failed, "failed"}}}};

/// The content of an outcome file. @param options of the training, as a configuration file.
[[nodiscard]] std::string to_json(const SweepOutcome& outcome, const std::string& options);
/// @throws DataError naming the file, and what to do.
[[nodiscard]] SweepOutcome outcome_from_json(const std::filesystem::path& file);

/// The folder of a sweep, shared by all processes:
/// trainings/KEY.json     how a training ended
/// runs/KEY               its run directory
/// claims/START/KEY       a process has taken it
/// claims/START/going-on  exists until a process stops the sweep
/// spent/RUN              ledger of a run whose directory was removed
class SweepFolder {
  public:
    /// Makes the folder if needed, locks it for the life of this object and removes claims of
    /// earlier starts. COLLECTIVE.
    /// @throws ConfigError for a folder that cannot be used, that another sweep uses, or that the
    /// processes do not share.
    SweepFolder(std::filesystem::path path, Network& network);

    [[nodiscard]] std::filesystem::path run_of(const SweepTraining& training) const;
    /// Removes its run directory; the ledger of the run stays in spent/.
    void discard_run(const SweepTraining& training) const;
    /// How a training ended; nothing if that is unknown.
    [[nodiscard]] std::optional<SweepOutcome> outcome(const SweepTraining& training) const;
    /// The number of trainings whose outcome is unknown.
    [[nodiscard]] long missing(const std::vector<SweepTraining>& trainings) const;
    /// True for the first process that asks; false for all if the outcome is known.
    [[nodiscard]] bool claim(const SweepTraining& training) const;
    /// Whether a process of this start has claimed it.
    [[nodiscard]] bool claimed(const SweepTraining& training) const;
    void keep(const SweepTraining& training, const SweepOutcome& outcome) const;
    /// Forgets a failure, which may not happen again. A divergence stays: it would repeat.
    void forget_failure(const SweepTraining& training) const;
    /// Forgets how it ended.
    void forget(const SweepTraining& training) const;
    void remove_claims() const;

    /// False once a process has called stop(): the trainings it claimed may never end.
    [[nodiscard]] bool going_on() const;
    /// Works on a full disk.
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
