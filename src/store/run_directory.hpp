#pragma once

#include <Eigen/Dense>
#include <filesystem>
#include <fstream>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sotto/core/files.hpp"
#include "store/metrics_row.hpp"

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
    /// The directory of a run to be taken up: rows of metrics.csv from this round on are those of
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
    /// Keeps others from taking up the run at the same time, until the process ends.
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

}  // namespace sotto
