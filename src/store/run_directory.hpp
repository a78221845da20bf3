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
#include "net/network.hpp"
#include "sotto/plan/noise_plan.hpp"
#include "store/metrics.hpp"

namespace sotto {

/// What a run leaves behind (docs/run-directory.md). One process (rank 0) owns it; others write
/// only their agents' models. Files are replaced atomically; metrics.csv grows by whole lines. Only
/// their owner can read them (mode 0600, folders 0700).
class RunDirectory {
  public:
    /// Creates the directory. @param wanted or, if empty, runs/<time>-<name>.
    /// What a start left there that ended before its run began may stay.
    /// @throws ConfigError if it cannot be created or written, or a run has begun there.
    [[nodiscard]] static RunDirectory create(const std::string& wanted, const std::string& name);
    /// The directory of a run to be resumed: rows of metrics.csv from this round on are those of
    /// lost work, and go. @throws ConfigError if it is no directory of a run, cannot be written, or
    /// a run that is still going on uses it.
    [[nodiscard]] static RunDirectory reopen(const std::string& path, long round);
    /// A directory of this process in a run whose directory process 0 made; it may be that one.
    [[nodiscard]] static RunDirectory existing(std::filesystem::path path);

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }
    void write(const std::string& file, std::string_view content) const;
    void append_metrics(const MetricsRow& row);
    /// For a new run, on every process: each host may have a directory of its own.
    /// @throws ConfigError if messages of a run may have left here: there is a config.ini, which is
    /// written before the first of them, or a mark or a checkpoint that says so, or an agent's
    /// record without any mark.
    void require_unbegun() const;
    /// Of a directory that was created: whether a start ended there before its run began.
    [[nodiscard]] bool holds_unbegun() const { return holds_unbegun_; }
    /// Removes what that start left on this host and another would find: marks, these agents'
    /// records of what they reveal, and the views it began to record for them.
    void forget_unbegun(std::span<const int> agents) const;
    /// Makes the folders of these agents, and finds out whether files can be written there: on
    /// every process, since each host may have a directory of its own. What failed in an earlier
    /// start is forgotten. @throws ConfigError naming the path and the reason.
    void prepare_for(std::span<const int> agents) const;
    /// Takes back what `create` and `prepare_for` made, so that the directory can be used again.
    void abandon();
    /// agents/<agent>/model.npy.
    void write_model(int agent, std::span<const double> model) const;
    /// agents/<agent>/<file>, which only its owner can read.
    void write_for(int agent, const std::string& file, std::string_view content) const;
    /// Leaves failure.txt with the message. Processes often fail together, and one message is
    /// enough: false if another process was first and has the word.
    [[nodiscard]] bool claim_failure(std::string_view message) const;

  private:
    /// agents/<agent>, made where it is not there. @throws ConfigError if it cannot be.
    [[nodiscard]] std::filesystem::path folder_of(int agent) const;
    explicit RunDirectory(std::filesystem::path path) : path_(std::move(path)) {}
    /// Keeps others from resuming the run at the same time, until the process ends.
    void lock();
    std::filesystem::path path_;
    std::ofstream metrics_;
    std::optional<FileLock> lock_;
    bool holds_unbegun_ = false;
};

/// The directory of a run on this process: the one that it was given itself, by --resume or
/// --run-directory. Of a run whose directory was left open, that of the same name as process 0's in
/// its own folder `runs`. @param said process 0's. @throws NetworkError for what is no name.
[[nodiscard]] std::filesystem::path own_directory(const std::optional<std::string>& resumed,
                                                  const std::optional<std::string>& given,
                                                  const std::string& said);

// What a run directory holds that its ledger does not count.

/// Files that show more of the agents' data or keys than the ledger says.
struct DirectorySecret {
    std::vector<std::string> files;  ///< patterns, below the run directory
    std::string reason;
};

/// Those of a training. Models are among them by the plan's own coefficients, not by its name.
[[nodiscard]] std::vector<DirectorySecret> directory_secrets(const TrainConfig& config,
                                                             const NoisePlan& plan);

// Which processes share a run directory, and who keeps copies for whom.

/// For every process the lowest one that sees the same folder: that of a disk which they share.
/// COLLECTIVE. @param folder that is there on every process; for a moment it holds a file more for
/// each.  @param token of this start of the run, the same on all processes.
/// @throws ConfigError if a file cannot be made, NetworkError naming a rank whose word cannot be
/// true.
[[nodiscard]] std::vector<int> disks_of(const std::filesystem::path& folder,
                                        Network& network,
                                        const std::string& token);

/// For every process another one, on the next disk, which keeps copies of its files; evenly.
/// @param disks as disks_of gives them.  @return nothing where all share one disk.
[[nodiscard]] std::vector<int> keepers_on(const std::vector<int>& disks);

/// Makes a folder, and those above it, where they are not there yet (make_private_folder).
/// @throws as throw_write_failure does, with path and reason.
void create_folder(const std::filesystem::path& folder);

/// Appends to log.txt in a run directory what people were told there, every line with the time of
/// day; only its owner can read it. A log that cannot be written ends nothing: metrics and models
/// find out. LOCAL. @param text whole lines; empty ones are left out.
void append_to_log(const std::filesystem::path& run_directory, std::string_view text) noexcept;

}  // namespace sotto
