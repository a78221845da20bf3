#pragma once

#include <sys/types.h>

#include <filesystem>
#include <memory>
#include <string>

#include "../cli/packet_capture.hpp"
#include "../cli/program.hpp"

namespace sotto::test {

/// deploy/mpirun with these words, as outside of Slurm jobs. @param environment "NAME=VALUE".
[[nodiscard]] Arguments launch_script(const Arguments& words, const Arguments& environment = {});

/// Hosts of a cluster on this machine: each has a host name and a network namespace of its own,
/// with one link to a bridge; host h (1, 2, ...) has the address 10.77.0.h. Each also has an
/// interface docker0 with the same address, as where Docker is installed. They share files.
///
/// All of it is in process, network and mount namespaces of its own. So nothing clashes with other
/// tests, and everything that still runs there ends with this object, or with the test program
/// however that ends. Needs root and `ip` (iproute2).
class Hosts {
  public:
    static constexpr const char* network = "10.77.0.0/24";
    /// @param directory  for the agent that mpirun starts instead of ssh, and the file of hosts.
    /// @return null, and why in `reason`, where that is not permitted.
    [[nodiscard]] static std::unique_ptr<Hosts> start(int hosts,
                                                      int slots,
                                                      const TempDir& directory,
                                                      std::string& reason);
    ~Hosts();
    Hosts(const Hosts&) = delete;
    Hosts& operator=(const Hosts&) = delete;

    /// The command as it is started on a host, in the test's folder.
    [[nodiscard]] Arguments on(int host, const Arguments& command) const;
    [[nodiscard]] Arguments on_first(const Arguments& command) const { return on(1, command); }
    /// Options of mpirun, or deploy/mpirun, that name these hosts; not their network.
    [[nodiscard]] Arguments launch_options(int ranks) const;
    /// deploy/mpirun with these hosts and their network, for on_first. @param sotto a command,
    /// after more options of deploy/mpirun.
    [[nodiscard]] Arguments launcher(int ranks, const Arguments& sotto) const;
    /// What a host runs before each of its commands, and before jobs of mpirun unless it is the
    /// first, with mounts of its own: files that only it sees otherwise. @param script of sh.
    void set_up(int host, const std::string& script) const;
    /// Gives each host a folder of this name in the test's folder, which no other host sees: the
    /// disk of host h is "disk<h>".
    void own_disks(const std::string& folder) const;
    /// Pulls the host's cable.
    void cut(int host) const;
    /// Puts it in again.
    void connect(int host) const;
    /// Ends all processes of the host at once, and pulls its cable.
    void power_off(int host) const;
    /// All that passes between hosts.
    [[nodiscard]] std::unique_ptr<PacketCapture> capture(std::string& reason) const;
    [[nodiscard]] static std::string name(int host);
    /// Sends a signal to one process on this host whose command line begins with what this regular
    /// expression matches.
    void signal_one(int host, const std::string& text, int signal) const;

  private:
    Hosts(pid_t init, int hosts, std::filesystem::path directory);
    /// The command in the namespaces of all hosts.
    [[nodiscard]] Arguments entered(const Arguments& command) const;
    void set_link(int host, const char* state) const;
    void run_outside(const std::string& script, const Arguments& words) const;

    pid_t init_;  // first process of the namespaces
    int hosts_;
    std::filesystem::path directory_;
};

}  // namespace sotto::test
