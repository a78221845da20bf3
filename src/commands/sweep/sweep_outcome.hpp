#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

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

}  // namespace sotto
