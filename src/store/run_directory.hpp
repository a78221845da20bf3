#pragma once

#include <Eigen/Dense>
#include <filesystem>
#include <fstream>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.hpp"
#include "core/files.hpp"
#include "net/control.hpp"
#include "sotto/plan/noise_plan.hpp"
#include "store/metrics.hpp"

namespace sotto {

/// The files of a run (docs/run-directory.md). Process 0 owns them; others write only their agents'
/// models. Files are replaced atomically; metrics.csv grows by whole lines. Only the owner can read
/// them (mode 0600, folders 0700).
class RunDirectory {
  public:
    /// Creates the directory. @param wanted or, if empty, runs/<time>-<name>. It may contain what a
    /// start left that ended before its run began.
    /// @throws ConfigError if it cannot be created or written, or a run has begun there.
    [[nodiscard]] static RunDirectory create(const std::string& wanted, const std::string& name);
    /// Opens the directory of a run to resume; removes rows of metrics.csv from this round on,
    /// whose work was lost. @throws ConfigError if it is no run's directory, cannot be written, or
    /// is in use by a running run.
    [[nodiscard]] static RunDirectory reopen(const std::string& path, long round);
    /// This process's directory in a run that process 0 created; may be the same.
    [[nodiscard]] static RunDirectory existing(std::filesystem::path path);

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }
    void write(const std::string& file, std::string_view content) const;
    void append_metrics(const MetricsRow& row);
    /// For a new run, on every process, since each host may have its own directory.
    /// @throws ConfigError if messages of a run may have been sent from here: there is a
    /// config.ini, which is written before the first message, or a mark or a checkpoint that says
    /// so, or an agent's record without any mark.
    void require_unbegun() const;
    /// For a created directory: whether an earlier start ended before its run began.
    [[nodiscard]] bool holds_unbegun() const { return holds_unbegun_; }
    /// Removes what that start left on this host: marks, these agents' records of what they reveal,
    /// and their begun views.
    void forget_unbegun(std::span<const int> agents) const;
    /// Makes the folders of these agents and checks that files can be written, on every process,
    /// since each host may have its own directory. Removes an earlier start's failure report.
    /// @throws ConfigError naming path and reason.
    void prepare_for(std::span<const int> agents) const;
    /// Undoes `create` and `prepare_for`, so that the directory can be used again.
    void abandon();
    /// agents/<agent>/model.npy.
    void write_model(int agent, std::span<const double> model) const;
    /// agents/<agent>/<file>, mode 0600.
    void write_for(int agent, const std::string& file, std::string_view content) const;
    /// Writes failure.txt with the message. Processes often fail together: false if another process
    /// was first and reports.
    [[nodiscard]] bool claim_failure(std::string_view message) const;

  private:
    /// agents/<agent>, created if missing. @throws ConfigError if it cannot be.
    [[nodiscard]] std::filesystem::path folder_of(int agent) const;
    explicit RunDirectory(std::filesystem::path path) : path_(std::move(path)) {}
    /// Prevents others from resuming the run while this process runs.
    void lock();
    std::filesystem::path path_;
    std::ofstream metrics_;
    std::optional<FileLock> lock_;
    bool holds_unbegun_ = false;
};

/// The directory of a run on this process: the one it was given by --resume or --run-directory,
/// otherwise that of process 0's name in its own folder `runs`. @param said process 0's directory.
/// @throws NetworkError unless it is a name.
[[nodiscard]] std::filesystem::path own_directory(const std::optional<std::string>& resumed,
                                                  const std::optional<std::string>& given,
                                                  const std::string& said);

/// Files that reveal more of the agents' data or keys than the ledger counts.
struct DirectorySecret {
    std::vector<std::string> files;  ///< patterns, below the run directory
    std::string reason;
};

/// Those of a training. Models are included depending on the plan's coefficients, not its name.
[[nodiscard]] std::vector<DirectorySecret> directory_secrets(const TrainConfig& config,
                                                             const NoisePlan& plan);

/// For every process the lowest one that shares its disk. COLLECTIVE.
/// @param folder exists on every process; each temporarily creates a file in it.  @param token of
/// this start, the same on all processes.
/// @throws ConfigError if a file cannot be made, NetworkError naming a rank with an impossible
/// answer.
[[nodiscard]] std::vector<int> disks_of(const std::filesystem::path& folder,
                                        Control& network,
                                        const std::string& token);

/// For every process the one on the next disk that keeps its copies, evenly distributed.
/// @param disks from disks_of.  @return empty if all share one disk.
[[nodiscard]] std::vector<int> keepers_on(const std::vector<int>& disks);

/// Makes a folder and its missing parents (make_private_folder).
/// @throws as throw_write_failure, with path and reason.
void create_folder(const std::filesystem::path& folder);

/// Appends printed messages to log.txt in a run directory, each line with the time; mode 0600.
/// Ignores write errors, which writing metrics and models will report. LOCAL. @param text whole
/// lines; empty ones are skipped.
void append_to_log(const std::filesystem::path& run_directory, std::string_view text) noexcept;

}  // namespace sotto
