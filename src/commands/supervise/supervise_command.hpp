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

/// Records what a supervisor does, with the time, in restarts.txt of the run directory and on
/// standard error.
class Journal {
  public:
    /// @param quiet writes nothing to standard error.
    Journal(std::filesystem::path file, bool quiet) : file_(std::move(file)), quiet_(quiet) {}
    /// If the file cannot be written, the line still goes to standard error.
    void note(std::string_view words) const;
    /// Whether the file exists; if it is gone, so is the run directory.
    [[nodiscard]] bool is_there() const { return std::filesystem::exists(file_); }
    [[nodiscard]] const std::filesystem::path& file() const { return file_; }

  private:
    std::filesystem::path file_;
    bool quiet_;
};

/// What a host says about itself.
struct HostAnswer {
    std::string name;
    std::vector<HostAddress> addresses;  ///< IPv4, without the loopback
};

/// Asks all hosts at once, through the remote shell that mpirun uses.
/// @param logs folder that each host makes, for its owner only; empty: none.
/// @param session folder for the answers.
/// @param patience how long to wait [s].
/// @return the answers, by the name that `hosts` gives.
[[nodiscard]] std::map<std::string, HostAnswer> ask_hosts(const LauncherWords& words,
                                                          const std::vector<std::string>& hosts,
                                                          const std::string& logs,
                                                          const std::string& session,
                                                          double patience = 20);

/// Whether `host` is a name or an address of this machine.
[[nodiscard]] bool is_here(const std::string& host);

/// Options of Open MPI's mpirun that name the network shared by all hosts (chosen_network): for
/// the ranks, and for mpirun if its host shares one. None if the words already name a network or
/// use one host only, if a host does not answer, or if no network is shared.
[[nodiscard]] std::vector<std::string> network_words(
    const LauncherWords& words, const std::map<std::string, HostAnswer>& answers);

/// Parses what a host printed; the name is empty if it printed no answer.
[[nodiscard]] HostAnswer host_answer(const std::string& printed);

/// The result of a supervised training.
struct SuperviseResult {
    int exit_code = 0;  ///< of the last start
    int starts = 0;     ///< by this supervisor
    std::string run_directory;
};

/// Starts a training, and restarts it with --resume while another start may help
/// (reason_to_restart): docs/cluster.md.
class Supervisor {
  public:
    /// Makes the run directory, for its owner only.
    /// @param words of a training.  @param session folder for its own files and Open MPI's.
    /// @throws ConfigError, DataError.
    Supervisor(const SuperviseConfig& config, LauncherWords words, std::string session);
    /// @throws Error if no process can be started.
    [[nodiscard]] SuperviseResult run();

  private:
    int start_once();
    /// @return false if there is no other start.
    bool prepare_next();
    void take_first_words();
    /// After a failed job: notes the command that resumes its run, if a run has begun.
    void note_how_to_go_on();
    void take_words_to_resume();
    /// Prepares a start that needs no delay and is not counted as a restart: a first start if
    /// there is no run to resume, --finish if the privacy budget is used up.
    bool mend(int exit_code);
    /// Whether a run may have begun: its files are here, or no host of it is this machine, so
    /// that they may be elsewhere.
    [[nodiscard]] bool may_have_begun();
    /// Whether the run directory is here. It is made again if a run is known to have begun.
    /// @return false if it is gone and nothing tells whether a run had begun.
    bool has_directory();
    bool wait_for_hosts();
    /// Hosts that do not answer, as the user named them.
    std::vector<std::string> silent_hosts();
    [[nodiscard]] bool ranks_answer() const;
    bool leave_out_silent(const std::vector<std::string>& silent);
    /// What silent hosts call themselves; nothing, with a note of the reason, if that is unknown.
    [[nodiscard]] std::optional<std::set<std::string>> names_of(
        const std::vector<std::string>& silent) const;
    [[nodiscard]] long newest_round() const;
    [[nodiscard]] std::string place() const;

    SuperviseConfig config_;
    LauncherWords words_;
    std::string session_;
    TrainWords train_;
    std::string named_directory_;   ///< as given to sotto
    std::filesystem::path folder_;  ///< absolute
    std::optional<Journal> journal_;
    std::map<std::string, std::string> name_of_;  ///< what hosts that answered call themselves
    std::vector<std::string> left_out_;           ///< hosts
    std::vector<std::string> network_;            ///< options of the launcher (network_words)
    std::vector<std::string> first_words_;        ///< of sotto
    bool begun_ = false;                          ///< files of the run have been seen
    int starts_ = 0;
};

/// Why a restart may help after this exit code (5, 137, 205 or 255); empty if it cannot.
[[nodiscard]] std::string reason_to_restart(int exit_code);

/// The agents of a run that remain without some hosts.
struct RemainingAgents {
    std::vector<int> leave;  ///< present agents on the removed hosts, or asked for
    int left = 0;            ///< number of agents that stay
    int ranks = 0;           ///< to start: one per agent, or as many as before on the other hosts
};

/// @param directory of a run that has begun; its newest manifest names the hosts of the agents.
/// @param host_names of the removed hosts, as they call themselves.
/// @param asked agents that leave in any case.
/// @throws DataError if no start of the run has a manifest, or its files are damaged.
[[nodiscard]] RemainingAgents remaining_agents(const std::filesystem::path& directory,
                                               const std::set<std::string>& host_names,
                                               const std::vector<int>& asked);

/// Those of `asked` that the run still has, ascending; all of them if there is no run.
/// `sotto train` refuses --without for an agent that has already left.
[[nodiscard]] std::vector<int> still_there(const std::filesystem::path& directory,
                                           const std::vector<int>& asked);

}  // namespace sotto::cli
