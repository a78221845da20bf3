#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "commands/supervise/host_answers.hpp"
#include "commands/supervise/journal.hpp"
#include "commands/supervise/launcher_words.hpp"
#include "commands/supervise/supervise_config.hpp"
#include "commands/supervise/train_words.hpp"

namespace sotto::cli {

/// What a supervised training came to.
struct SuperviseResult {
    int exit_code = 0;  ///< of the last start
    int starts = 0;     ///< of this supervisor
    std::string run_directory;
};

/// Starts a training, and again with --resume as long as what ended it may be mended by another
/// start (exit codes 5, 137, 205, 255): docs/cluster.md, "Taken up by itself".
class Supervisor {
  public:
    /// Makes the run directory, for its owner only.
    /// @param words of a training.  @param session a folder for files of its own, and Open MPI's.
    /// @throws ConfigError, DataError.
    Supervisor(const SuperviseConfig& config, LauncherWords words, std::string session);
    /// @throws Error if nothing can be started.
    [[nodiscard]] SuperviseResult run();

  private:
    int start_once();
    /// False: there is no other start.
    bool prepare_next();
    void take_first_words();
    /// After a job that failed: the command that takes its run up, where one has begun.
    void note_how_to_go_on();
    void take_words_to_resume();
    /// What may be done at once, and is no restart: begin a run that nobody has, end one that has
    /// nothing left of its budget.
    bool mend(int exit_code);
    /// Whether a start may have been of a run: its files, or that none of its hosts is here, where
    /// they could be seen.
    [[nodiscard]] bool may_have_begun();
    /// Whether the run directory here can be seen, or is made again. @return false: it has gone,
    /// and with it what says that a run has begun.
    bool has_directory();
    bool wait_for_hosts();
    /// Those that do not answer, as the user named them.
    std::vector<std::string> silent_hosts();
    [[nodiscard]] bool ranks_answer() const;
    bool leave_out_silent(const std::vector<std::string>& silent);
    /// What silent hosts call themselves; nothing, and said why, where that is not known.
    [[nodiscard]] std::optional<std::set<std::string>> names_of(
        const std::vector<std::string>& silent) const;
    [[nodiscard]] long newest_round() const;
    [[nodiscard]] std::string place() const;

    SuperviseConfig config_;
    LauncherWords words_;
    std::string session_;
    TrainWords train_;
    std::string named_directory_;   ///< as it is given to sotto
    std::filesystem::path folder_;  ///< absolute
    std::optional<Journal> journal_;
    std::map<std::string, std::string> name_of_;  ///< of hosts that have answered
    std::vector<std::string> left_out_;           ///< hosts
    std::vector<std::string> network_;            ///< options of the launcher (network_words)
    std::vector<std::string> first_words_;        ///< of sotto
    bool begun_ = false;                          ///< files of the run were seen
    int starts_ = 0;
};

/// Why another start may mend what ended with this exit code; empty where it may not.
[[nodiscard]] std::string reason_to_restart(int exit_code);

}  // namespace sotto::cli
