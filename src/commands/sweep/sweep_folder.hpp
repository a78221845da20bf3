#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "commands/sweep/sweep_grid.hpp"
#include "commands/sweep/sweep_outcome.hpp"
#include "sotto/core/files.hpp"
#include "sotto/net/network.hpp"

namespace sotto {

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
