#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sotto::cli {

/// How to wait for a launcher.
struct LaunchSetting {
    int kill_seconds = 1;          ///< mpirun waits so long between two of its signals
    std::string session;           ///< folder for files of Open MPI, with a short name
    bool output_to_error = false;  ///< the job's standard output goes to standard error
};

/// Runs a launcher, forwards its standard error and waits for its end.
/// The first stop request is forwarded as SIGUSR1: mpirun would kill the ranks too soon after a
/// signal of its own. It is repeated until the job ends or aborts, because ranks that have not
/// started yet miss it. A second stop request ends the launcher (SIGTERM). After an abort the
/// launcher is killed if it does not end within 3 + 2 kill_seconds: with a lost host mpirun would
/// wait for a quarter of an hour.
/// @return the launcher's exit code. If the job aborted and the launcher crashed or was killed:
/// the code of the rank that ended the job, 5 if unknown. 128 + signal if a stop request ended it.
/// @throws Error if no process can be started.
[[nodiscard]] int run_launcher(const std::vector<std::string>& command,
                               const LaunchSetting& setting);

/// Settings of a child process.
struct ChildSetting {
    int out = -1;  ///< descriptor for its standard output; -1: ours
    int err = -1;  ///< likewise for standard error
    std::vector<std::pair<std::string, std::string>> environment{};  ///< added to ours
    /// Starts a session of its own, which a terminal's Ctrl-C does not reach. The child still gets
    /// SIGTERM when this process ends.
    bool own_session = false;
};

/// A child process, without standard input.
class ChildProcess {
  public:
    /// @throws Error if no process can be made. If the program cannot be started, the exit code
    /// is 127.
    ChildProcess(const std::vector<std::string>& words, const ChildSetting& setting);
    [[nodiscard]] pid_t pid() const { return pid_; }
    /// The exit code, or 128 + signal; nothing while it runs.
    [[nodiscard]] std::optional<int> ended();
    /// Waits for the end. @return as `ended`.
    int wait();
    /// Does nothing after the end.
    void signal(int number);

  private:
    pid_t pid_ = -1;
    std::optional<int> code_;
};

/// The running children of a process.
[[nodiscard]] std::vector<pid_t> children_of(pid_t parent);

/// The parts of a command line that starts sotto: `mpirun -n 20 --hostfile hosts sotto train ...`.
struct LauncherWords {
    std::vector<std::string> launcher;  ///< with its other options; empty: no launcher
    std::optional<int> ranks;           ///< -n
    std::optional<std::string> hostfile;
    std::optional<std::string> hosts;         ///< --host
    std::optional<std::string> remote_shell;  ///< plm_rsh_agent; nothing: ssh
    std::string remote_shell_options;         ///< plm_rsh_args
    int kill_seconds = 1;            ///< odls_base_sigkill_timeout: between two of mpirun's signals
    bool names_network = false;      ///< btl_tcp_if_include or _exclude is set
    std::string program;             ///< sotto
    std::vector<std::string> sotto;  ///< its command, and that command's options

    /// Whether the launcher has a name that Open MPI uses: mpirun, mpiexec, orterun.
    [[nodiscard]] bool is_mpirun() const;
};

/// Settings that the words do not give are read from the environment (OMPI_MCA_...).
/// @param commands of sotto; the first one found begins sotto's own words.
/// @throws ConfigError if there is no command, or several programs are started (":").
[[nodiscard]] LauncherWords parse_launcher(const std::vector<std::string>& words,
                                           const std::vector<std::string>& commands);

/// Joins the parts into a command line. @param more options of the launcher.
[[nodiscard]] std::vector<std::string> composed(const LauncherWords& words,
                                                const std::vector<std::string>& more = {});

/// Host names as the user wrote them, each once, sorted; empty without a file or list of hosts.
/// @throws ConfigError if the file cannot be read.
[[nodiscard]] std::vector<std::string> named_hosts(const LauncherWords& words);
/// Removes these hosts. @param file where the shorter host file is written.
void leave_out(LauncherWords& words,
               const std::vector<std::string>& hosts,
               const std::string& file);

/// The options of `sotto train` that a supervisor needs.
struct TrainWords {
    std::vector<std::string> options;  ///< all but --without
    std::vector<std::string>
        beside;  ///< not in config.ini: --json, --quiet, --verbose, --identity
    std::vector<int> without;  ///< agents that leave
    std::optional<std::string> directory, resume;
    bool has_interval = false;  ///< --checkpoint-every is given
    bool dry_run = false;
};

/// @param words after `train`. A file named by --config is read.
/// @throws ConfigError, DataError as `sotto train` does.
[[nodiscard]] TrainWords read_train_words(const std::vector<std::string>& words);

/// The words "--without" and "3,7"; none if no agent leaves.
[[nodiscard]] std::vector<std::string> without_words(const std::vector<int>& agents);

/// Starts to count signals that ask a supervisor to stop: SIGINT, SIGTERM, SIGHUP, SIGUSR1. Each
/// also ends a wait. A signal that was ignored at the start (SIGHUP under nohup) stays ignored.
void count_stop_requests();
[[nodiscard]] int stop_requests();
/// The first signal; 0 if none came.
[[nodiscard]] int first_stop_signal();
/// Sets the count to zero.
void forget_stop_requests();
/// Waits, at most until a stop request comes.
void pause_unless_stopped(double seconds);

}  // namespace sotto::cli
