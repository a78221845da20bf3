#pragma once

#include <memory>
#include <string>

#include "../multihost/hosts.hpp"

namespace sotto::test {

/// Slurm with three nodes, host2 to host4, of eight processors each. Its controller runs on host1,
/// where jobs are submitted; all are namespaces of this machine (Hosts), and end with them.
///
/// Nodes share the test's folder, but for its folder `apart`, of which each has its own.
/// Partitions: `low` (default; its jobs are requeued for others, after a GraceTime) and `high`. A
/// node is down when it was silent for `silence` seconds; ended jobs get `kill_wait` seconds for
/// it; requeued ones wait `pause`, the least after which Slurm starts a job again.
///
/// Needs root, and Slurm 22.05 or later with munge and PMIx.
class SlurmCluster {
  public:
    static constexpr int nodes = 3, silence = 30, kill_wait = 30, pause = 5,
                         grace_time = 60;  // [s]
    /// @return null, and why in `reason`, where packages are missing or namespaces not permitted.
    /// @throws std::runtime_error if Slurm does not start, with the end of its logs.
    [[nodiscard]] static std::unique_ptr<SlurmCluster> start(const TempDir& directory,
                                                             std::string& reason);

    /// One of Slurm's commands on host1, in a folder of the test.
    [[nodiscard]] Outcome run(const Arguments& command, const std::string& folder = ".") const;
    /// `sbatch` with these words. @return the job's number; -1 after a failure.
    [[nodiscard]] long submit(const Arguments& words, const std::string& folder = ".") const;
    /// Whether nodes may start jobs: what is requeued meanwhile waits.
    void let_start(bool allowed) const;
    /// What `scontrol show job` says of it: `JobState`, `Restarts`, `NodeList`; empty without it.
    [[nodiscard]] std::string job(const std::string& number, const std::string& field) const;
    /// To one of sotto's ranks on the host, of the run in that directory.
    void signal_rank(int host, const std::string& run, int signal) const {
        hosts_->signal_one(host, std::string(SOTTO_PROGRAM) + ".* " + run + " ", signal);
    }
    /// The host's power fails; it comes back.
    void lose(int host) const { hosts_->power_off(host); }
    void bring_back(int host) const;
    /// Whether all nodes are idle in time.
    [[nodiscard]] bool is_idle() const;
    /// The end of what the controller and the nodes wrote, for messages of failing tests.
    [[nodiscard]] std::string logs() const;

  private:
    SlurmCluster(std::unique_ptr<Hosts> hosts, const TempDir& directory)
        : hosts_(std::move(hosts)), directory_(directory) {}
    void write_configuration() const;
    [[nodiscard]] Arguments with_environment(const Arguments& command) const;
    [[nodiscard]] Outcome run_on(int host, const Arguments& command) const;
    void start_daemon(int host, const Arguments& command) const;

    std::unique_ptr<Hosts> hosts_;
    const TempDir& directory_;
};

}  // namespace sotto::test
