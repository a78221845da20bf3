#include "cluster.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <random>
#include <regex>
#include <stdexcept>

namespace sotto::test {

namespace fs = std::filesystem;

namespace {

/// Debian's packages of which something is missing.
std::vector<std::string> missing_packages() {
    constexpr std::array<std::array<const char*, 2>, 4> programs{{{"munged", "munge"},
                                                                  {"slurmctld", "slurmctld"},
                                                                  {"slurmd", "slurmd"},
                                                                  {"srun", "slurm-client"}}};
    std::vector<std::string> missing;
    for (const auto& [program, package] : programs)
        if (!fs::exists(fmt::format("/usr/sbin/{}", program)) &&
            !fs::exists(fmt::format("/usr/bin/{}", program)))
            missing.emplace_back(package);
    // Slurm's plugin opens it by this name.
    if (void* library = ::dlopen("libpmix.so", RTLD_LAZY); library != nullptr)
        ::dlclose(library);
    else
        missing.emplace_back("libpmix-dev");
    return missing;
}

std::string random_key() {
    std::random_device source;
    std::string key(64, '\0');
    for (char& byte : key) byte = static_cast<char>(source());
    return key;
}

/// Slurm sets nothing of it for jobs; what it does not know of here would look at all of this
/// machine.
constexpr const char* configuration = R"(ClusterName=test
SlurmctldHost=host1(10.77.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={0}/munge.socket,cred_expire={1}
MailProg=/bin/true
MpiDefault=pmix
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
StateSaveLocation={0}/state
SlurmdSpoolDir={0}/%n
TmpFS={0}/%n
SlurmctldPidFile={0}/slurmctld.pid
SlurmdPidFile={0}/%n.pid
SlurmctldLogFile={0}/host1.log
SlurmdLogFile={0}/%n.log
SlurmdParameters=config_overrides
ReturnToService=2
SlurmdTimeout={2}
MessageTimeout=20
KillWait={3}
SchedulerParameters=sched_interval=1,bf_interval=1,batch_sched_delay=0
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
NodeName=host[2-4] NodeAddr=10.77.0.[2-4] CPUs=8 RealMemory=64000
PartitionName=low Nodes=host[2-4] Default=YES PriorityTier=1 GraceTime={4}
PartitionName=high Nodes=host[2-4] PriorityTier=2 PreemptMode=OFF
)";

}  // namespace

void SlurmCluster::write_configuration() const {
    const fs::path folder = directory_ / "slurm";
    for (const char* name : {"state", "host2", "host3", "host4"})
        fs::create_directories(folder / name);
    fs::create_directory(directory_ / "home");
    fs::create_directory(directory_ / "apart");
    (void)directory_.write(
        "slurm/slurm.conf",
        fmt::format(configuration, folder.string(), pause, silence, kill_wait, grace_time));
    (void)directory_.write("slurm/cgroup.conf", "CgroupPlugin=cgroup/v1\nIgnoreSystemd=yes\n");
    fs::permissions(directory_.write("slurm/munge.key", random_key()),
                    fs::perms::owner_read | fs::perms::owner_write);
    // slurmd wants a mount there, although nothing here uses it.
    const std::string apart = directory_ / "apart";
    for (int host = 1; host <= 1 + nodes; ++host)
        hosts_->set_up(
            host,
            fmt::format("mount -t tmpfs none /sys/fs/cgroup && mount -t tmpfs none {0} || exit\n"
                        "[ {1} -gt 1 ] || mkdir {0}/none\n[ {1} -gt 2 ] || mkdir {0}/one",
                        apart,
                        host));
}

std::unique_ptr<SlurmCluster> SlurmCluster::start(const TempDir& directory, std::string& reason) {
    if (const auto missing = missing_packages(); !missing.empty()) {
        reason =
            fmt::format("packages are missing: {} (deploy/install tests)", fmt::join(missing, " "));
        return nullptr;
    }
    auto hosts = Hosts::start(1 + nodes, 0, directory, reason);
    if (!hosts) return nullptr;
    std::unique_ptr<SlurmCluster> made(new SlurmCluster(std::move(hosts), directory));
    made->write_configuration();
    if (const Outcome outcome = made->run({"true"}); outcome.exit_code != 0) {
        reason = "hosts cannot have mounts of their own here: " +
                 outcome.err.substr(0, outcome.err.find('\n'));
        return nullptr;
    }
    const std::string folder = directory / "slurm/";
    made->start_daemon(1,
                       {"munged",
                        "--force",
                        "--socket=" + folder + "munge.socket",
                        "--key-file=" + folder + "munge.key",
                        "--log-file=" + folder + "munged.log",
                        "--pid-file=" + folder + "munged.pid",
                        "--seed-file=" + folder + "munge.seed"});
    made->start_daemon(1, {"slurmctld"});
    for (int host = 2; host <= 1 + nodes; ++host) made->start_daemon(host, {"slurmd"});
    if (!made->is_idle())
        throw std::runtime_error("Slurm's nodes did not register\n" + made->logs());
    return made;
}

Arguments SlurmCluster::with_environment(const Arguments& command) const {
    const auto inherited = [](const char* name) {
        const char* value = std::getenv(name);
        return fmt::format("{}={}", name, value != nullptr ? value : "");
    };
    // Nothing of a job in which this test runs.
    Arguments words{"env",
                    "-i",
                    "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                    inherited("LD_LIBRARY_PATH"),
                    "ASAN_OPTIONS=detect_leaks=0",
                    "HOME=" + directory_ / "home",
                    "SLURM_CONF=" + directory_ / "slurm/slurm.conf",
                    std::string("SOTTO_PROGRAM=") + SOTTO_PROGRAM,
                    std::string("OMPI_MCA_btl_tcp_if_include=") + Hosts::network};
    words.insert(words.end(), command.begin(), command.end());
    return words;
}

Outcome SlurmCluster::run_on(int host, const Arguments& command) const {
    return Process(hosts_->on(host, with_environment(command)), directory_.path()).wait();
}

Outcome SlurmCluster::run(const Arguments& command, const std::string& folder) const {
    Arguments words{"env", "-C", folder};
    words.insert(words.end(), command.begin(), command.end());
    return run_on(1, words);
}

void SlurmCluster::start_daemon(int host, const Arguments& command) const {
    const Outcome outcome = run_on(host, command);
    if (outcome.exit_code != 0)
        throw std::runtime_error(
            fmt::format("{}: {}\n{}", command.front(), outcome.text(), logs()));
}

void SlurmCluster::bring_back(int host) const {
    hosts_->connect(host);
    start_daemon(host, {"slurmd"});
}

long SlurmCluster::submit(const Arguments& words, const std::string& folder) const {
    Arguments command{"sbatch", "--parsable"};
    command.insert(command.end(), words.begin(), words.end());
    const Outcome outcome = run(command, folder);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.text();
    return outcome.exit_code == 0 ? std::stol(outcome.out) : -1;
}

void SlurmCluster::let_start(bool allowed) const {
    Arguments command{"scontrol", "update", "NodeName=host[2-4]"};
    if (allowed)
        command.emplace_back("State=RESUME");
    else
        command.insert(command.end(), {"State=DRAIN", "Reason=test"});
    const Outcome outcome = run(command);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.text();
}

std::string SlurmCluster::job(const std::string& number, const std::string& field) const {
    const Outcome outcome = run({"scontrol", "show", "job", number});
    std::smatch found;
    const std::regex pattern("(?:^|\\s)" + field + "=(\\S*)");
    return std::regex_search(outcome.out, found, pattern) ? found[1].str() : "";
}

bool SlurmCluster::is_idle() const {
    return happens([&] {
        return run({"sinfo", "--noheader", "--partition=low", "--format=%D %t"}).out ==
               fmt::format("{} idle\n", nodes);
    });
}

std::string SlurmCluster::logs() const {
    std::string text;
    for (int host = 1; host <= 1 + nodes; ++host) {
        const std::string name = Hosts::name(host) + ".log";
        const std::string log = content_of(directory_ / ("slurm/" + name));
        text += fmt::format(
            "--- {}\n{}", name, log.substr(log.size() - std::min<std::size_t>(log.size(), 1500)));
    }
    return text;
}

}  // namespace sotto::test
