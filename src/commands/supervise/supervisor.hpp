#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "commands/supervise/launched_job.hpp"
#include "commands/supervise/supervise_options.hpp"
#include "net/host_networks.hpp"

namespace sotto::cli {

/// What a supervisor does, with the time: lines of restarts.txt in the run directory, and of
/// standard error.
class Journal {
  public:
    /// @param quiet nothing to standard error.
    Journal(std::filesystem::path file, bool quiet) : file_(std::move(file)), quiet_(quiet) {}
    /// What cannot be written is said all the same.
    void note(std::string_view words) const;
    /// Whether it is still there: where it has gone the run directory has.
    [[nodiscard]] bool is_there() const { return std::filesystem::exists(file_); }
    [[nodiscard]] const std::filesystem::path& file() const { return file_; }

  private:
    std::filesystem::path file_;
    bool quiet_;
};

/// What a host says about itself.
struct HostAnswer {
    std::string name;
    std::vector<HostAddress> addresses;  ///< of IPv4, but for the loopback's
};

/// Asks all hosts at once, by the remote shell that mpirun uses, for at most `patience` seconds.
/// @param logs a folder that each makes, for its owner only; empty: none.
/// @param session a folder for what they say.
/// @return those that answer, by the name they were asked with.
[[nodiscard]] std::map<std::string, HostAnswer> ask_hosts(const LauncherWords& words,
                                                          const std::vector<std::string>& hosts,
                                                          const std::string& logs,
                                                          const std::string& session,
                                                          double patience = 20);

/// Whether this is a name or an address of this machine.
[[nodiscard]] bool is_here(const std::string& host);

/// Options of Open MPI's mpirun that name the network all hosts share (chosen_network), for ranks,
/// and for mpirun where its host shares one; none where the words name one already, or start one
/// host only, or a host does not answer, or there is none.
[[nodiscard]] std::vector<std::string> network_words(
    const LauncherWords& words, const std::map<std::string, HostAnswer>& answers);

/// The answer in what a host printed; one without name where it is none.
[[nodiscard]] HostAnswer host_answer(const std::string& printed);

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

/// Who is left of a run when hosts are.
struct RemainingAgents {
    std::vector<int> leave;  ///< still there, and on hosts that are left out, or asked for
    int left = 0;            ///< agents
    int ranks = 0;           ///< to start: one an agent, or as many as before on the other hosts
};

/// @param directory of a run that has begun; its newest manifest says who was where.
/// @param host_names as hosts call themselves.  @param asked agents that are to leave anyhow.
/// @throws DataError if no start of the run has a manifest, or its files are damaged.
[[nodiscard]] RemainingAgents remaining_agents(const std::filesystem::path& directory,
                                               const std::set<std::string>& host_names,
                                               const std::vector<int>& asked);

/// Those of `asked` that the run still has, ascending: the others may not be named again. All of
/// them where no run is there.
[[nodiscard]] std::vector<int> still_there(const std::filesystem::path& directory,
                                           const std::vector<int>& asked);

}  // namespace sotto::cli
