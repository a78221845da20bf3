#pragma once

#include <optional>
#include <string>
#include <vector>

namespace sotto::cli {

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

}  // namespace sotto::cli
