#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sotto::cli {

/// How a launcher is waited for.
struct LaunchSetting {
    int kill_seconds = 1;          ///< mpirun's, between two of its signals
    std::string session;           ///< folder for files of Open MPI, with a short name
    bool output_to_error = false;  ///< what the job says to standard output, too
};

/// Runs a launcher, passes its errors on, and waits for its end.
/// A stop that is asked for (launched_job.hpp) is passed on as SIGUSR1, again and again until the
/// job has ended or is aborted, since ranks that are not there yet do not hear it: of its own
/// signals mpirun would kill the ranks too soon. A second one ends the launcher (SIGTERM). A
/// launcher that has aborted the job gets 3 + 2 kill_seconds to end, then it is ended: with a lost
/// host Open MPI's would wait for a quarter of an hour.
/// @return its exit code; of an aborted job that of the rank that ended it, also where the
/// launcher crashes, and 5 where that is not known; 128 + signal of a stop that ended it at once.
/// @throws Error if no process can be made.
[[nodiscard]] int run_launcher(const std::vector<std::string>& command,
                               const LaunchSetting& setting);

/// What a child process is given besides its words.
struct ChildSetting {
    int out = -1;  ///< descriptor for its standard output; -1: ours
    int err = -1;  ///< likewise for standard error
    std::vector<std::pair<std::string, std::string>> environment{};  ///< set beside ours
    /// In a session of its own, where a terminal's Ctrl-C does not reach it; it is ended with us
    /// all the same (SIGTERM).
    bool own_session = false;
};

/// A child process, without standard input.
class ChildProcess {
  public:
    /// @throws Error if no process can be made. A program that cannot be started ends with 127.
    ChildProcess(const std::vector<std::string>& words, const ChildSetting& setting);
    [[nodiscard]] pid_t pid() const { return pid_; }
    /// Its exit code, 128 + signal where one ended it; nothing while it runs.
    [[nodiscard]] std::optional<int> ended();
    /// Waits for the end. @return as `ended`.
    int wait();
    /// Nothing where it has ended.
    void signal(int number);

  private:
    pid_t pid_ = -1;
    std::optional<int> code_;
};

/// Processes that this one has started, and that still run.
[[nodiscard]] std::vector<pid_t> children_of(pid_t parent);

/// A command line that starts sotto, taken apart: `mpirun -n 20 --hostfile hosts sotto train ...`.
struct LauncherWords {
    std::vector<std::string> launcher;  ///< and its options but for those below; empty: none
    std::optional<int> ranks;           ///< -n
    std::optional<std::string> hostfile;
    std::optional<std::string> hosts;         ///< --host
    std::optional<std::string> remote_shell;  ///< plm_rsh_agent; nothing: ssh
    std::string remote_shell_options;         ///< plm_rsh_args
    int kill_seconds = 1;            ///< odls_base_sigkill_timeout: between two of mpirun's signals
    bool names_network = false;      ///< of TCP messages (btl_tcp_if_include or _exclude)
    std::string program;             ///< sotto
    std::vector<std::string> sotto;  ///< its command, and that command's options

    /// Whether it is Open MPI's, by its name: mpirun, mpiexec, orterun.
    [[nodiscard]] bool is_mpirun() const;
};

/// Also reads those settings from the environment (OMPI_MCA_...) that the words leave open.
/// @param commands of sotto: the first of these words begins sotto's own.
/// @throws ConfigError if no command is there, or several programs are started (":").
[[nodiscard]] LauncherWords parse_launcher(const std::vector<std::string>& words,
                                           const std::vector<std::string>& commands);

/// The command line again. @param more options of the launcher.
[[nodiscard]] std::vector<std::string> composed(const LauncherWords& words,
                                                const std::vector<std::string>& more = {});

/// As the user named them, each once, sorted; none where no file or list of hosts is given.
/// @throws ConfigError if the file cannot be read.
[[nodiscard]] std::vector<std::string> named_hosts(const LauncherWords& words);
/// Without these hosts. @param file where a shorter file of hosts is written.
void leave_out(LauncherWords& words,
               const std::vector<std::string>& hosts,
               const std::string& file);

/// Options of `sotto train`, as far as a supervisor has to know them.
struct TrainWords {
    std::vector<std::string> options;  ///< all but --without
    std::vector<std::string>
        beside;                ///< those that config.ini does not keep: --json, --quiet, --verbose
    std::vector<int> without;  ///< agents that leave
    std::optional<std::string> directory, resume;
    bool has_interval = false;  ///< of checkpoints
    bool dry_run = false;
};

/// @param words after `train`; a file that --config names is read.
/// @throws ConfigError, DataError as `sotto train` itself for options that do not exist.
[[nodiscard]] TrainWords read_train_words(const std::vector<std::string>& words);

/// " --without 3,7", in words; none where nobody leaves.
[[nodiscard]] std::vector<std::string> without_words(const std::vector<int>& agents);

/// Signals that ask a supervisor to stop: SIGINT, SIGTERM, SIGHUP, SIGUSR1. From here on they are
/// counted; each also ends a wait. What the supervisor was started to ignore, as SIGHUP under
/// nohup, stays ignored.
void count_stop_requests();
/// How many came.
[[nodiscard]] int stop_requests();
/// The first; 0: none.
[[nodiscard]] int first_stop_signal();
/// As before, with none.
void forget_stop_requests();
/// Waits, at most until one comes. [s]
void pause_unless_stopped(double seconds);

}  // namespace sotto::cli
