#include "hosts.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <regex>
#include <stdexcept>
#include <thread>
#include <utility>

namespace sotto::test {

namespace fs = std::filesystem;

namespace {

constexpr const char* bridge = "bridge";

/// Makes the network and says so; then waits for ever, and for every process that loses its parent.
std::string setup_script(int hosts) {
    std::string script =
        fmt::format("exec 2>&1; set -e; ip link add {0} type bridge; ip link set {0} up\n", bridge);
    for (int h = 1; h <= hosts; ++h)
        script += fmt::format(
            "ip netns add {0}; ip link add port{1} type veth peer name eth0 netns {0}\n"
            "ip link set port{1} master {2} up; ip -n {0} link set lo up\n"
            "ip -n {0} address add 10.77.0.{1}/24 dev eth0; ip -n {0} link set eth0 up\n"
            "ip -n {0} link add docker0 type bridge; ip -n {0} link set docker0 up\n"
            "ip -n {0} address add 172.17.0.1/16 dev docker0\n",
            Hosts::name(h),
            h,
            bridge);
    return script + "echo ready; exec >/dev/null 2>&1; while :; do sleep 60; done\n";
}

/// First process of new namespaces: does not return.
[[noreturn]] void run_init(const std::string& script, int output) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const auto check = [&](bool well, const char* what) {
        if (well) return;
        ::dprintf(output, "%s: %s\n", what, std::strerror(errno));
        ::_exit(1);
    };
    check(::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0, "private mounts");
    check(::mount("proc", "/proc", "proc", 0, nullptr) == 0, "mounting /proc");
    // Names of network namespaces, which nobody else sees.
    ::mkdir("/run/netns", 0755);
    check(::mount("tmpfs", "/run/netns", "tmpfs", 0, nullptr) == 0, "mounting /run/netns");
    ::dup2(output, STDOUT_FILENO);
    ::execlp("sh", "sh", "-c", script.c_str(), nullptr);
    check(false, "sh");
    ::_exit(1);
}

/// What the namespaces' first process says, up to its end or "ready".
std::string first_words(int input) {
    std::string text;
    std::array<char, 512> buffer{};
    while (!text.ends_with("ready\n")) {
        const ssize_t count = ::read(input, buffer.data(), buffer.size());
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) break;
        text.append(buffer.data(), static_cast<std::size_t>(count));
    }
    return text;
}

void make_executable(const std::string& path) { fs::permissions(path, fs::perms::owner_all); }

/// Runs `use` in a thread that has entered the network namespace.
template <class Use>
void in_network_of(const fs::path& name_space, Use&& use) {
    std::thread([&] {
        const int descriptor = ::open(name_space.c_str(), O_RDONLY | O_CLOEXEC);
        if (descriptor < 0 || ::setns(descriptor, CLONE_NEWNET) != 0)
            throw std::runtime_error(
                fmt::format("{}: {}", name_space.string(), std::strerror(errno)));
        ::close(descriptor);
        use();
    }).join();
}

}  // namespace

std::string Hosts::name(int host) { return fmt::format("host{}", host); }

std::unique_ptr<Hosts> Hosts::start(int hosts,
                                    int slots,
                                    const TempDir& directory,
                                    std::string& reason) {
    if (::geteuid() != 0) {
        reason = "hosts of one's own need root";
        return nullptr;
    }
    std::array<int, 2> pipe{};
    if (::pipe2(pipe.data(), O_CLOEXEC) != 0)
        throw std::runtime_error(fmt::format("pipe2: {}", std::strerror(errno)));
    const std::string script = setup_script(hosts);
    const auto init =
        static_cast<pid_t>(::syscall(SYS_clone,
                                     CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWPID | SIGCHLD,
                                     nullptr,
                                     nullptr,
                                     nullptr,
                                     0));
    if (init == 0) run_init(script, pipe[1]);
    ::close(pipe[1]);
    if (init < 0) {
        reason = fmt::format("namespaces are not permitted here ({})", std::strerror(errno));
        ::close(pipe[0]);
        return nullptr;
    }
    std::unique_ptr<Hosts> made(new Hosts(init, hosts, directory.path()));
    const std::string words = first_words(pipe[0]);
    ::close(pipe[0]);
    if (!words.ends_with("ready\n")) {
        reason = fmt::format("hosts cannot be made here: {}", words.substr(0, words.find('\n')));
        return nullptr;
    }
    std::string list;
    for (int h = 1; h <= hosts; ++h) list += fmt::format("10.77.0.{} slots={}\n", h, slots);
    (void)directory.write("hosts", list);
    // Called like ssh: options, address, command. It reaches no host whose cable is pulled.
    // mpirun's daemons keep no file of ours open.
    make_executable(directory.write(
        "agent",
        "#!/bin/sh\n"
        "while [ \"${1#-}\" != \"$1\" ]; do shift; done\n"
        "host=host${1##*.}; shift\n"
        "[ ! -e ${0%/*}/$host.cut ] || exit 255\n"
        "setup=${0%/*}/$host.setup; [ -f $setup ] || setup=/dev/null\n"
        "case $* in *orted*) exec >/dev/null 2>&1 ;; esac\n"
        "exec ip netns exec $host unshare --uts --mount sh -c \"hostname $host; . $setup; $*\"\n"));
    return made;
}

void Hosts::set_up(int host, const std::string& script) const {
    std::ofstream(directory_ / (name(host) + ".setup")) << script << "\n";
}

void Hosts::own_disks(const std::string& folder) const {
    for (int h = 1; h <= hosts_; ++h) {
        const fs::path disk = directory_ / fmt::format("disk{}", h);
        fs::create_directories(disk);
        fs::create_directories(directory_ / folder);
        set_up(h, fmt::format("mount --bind {} {}", disk.string(), (directory_ / folder).string()));
    }
}

Hosts::Hosts(pid_t init, int hosts, fs::path directory)
    : init_(init), hosts_(hosts), directory_(std::move(directory)) {}

Hosts::~Hosts() {
    ::kill(init_, SIGKILL);  // the kernel then ends all others
    ::waitpid(init_, nullptr, 0);
}

Arguments Hosts::entered(const Arguments& command) const {
    Arguments full{
        "nsenter", "--target", std::to_string(init_), "--mount", "--root", "--net", "--pid"};
    full.insert(full.end(), command.begin(), command.end());
    return full;
}

Arguments Hosts::on(int host, const Arguments& command) const {
    Arguments full = entered(
        {"ip",
         "netns",
         "exec",
         name(host),
         "unshare",
         "--uts",
         "--mount",
         "sh",
         "-c",
         fmt::format("hostname {0}; cd \"$0\"; setup=./{0}.setup; [ ! -f $setup ] || . $setup; "
                     "cd \"$0\"; exec \"$@\"",
                     name(host)),
         directory_});
    full.insert(full.end(), command.begin(), command.end());
    return full;
}

Arguments launch_script(const Arguments& words, const Arguments& environment) {
    Arguments command{"env", "-u", "SLURM_JOB_ID", std::string("SOTTO_PROGRAM=") + SOTTO_PROGRAM};
    command.insert(command.end(), environment.begin(), environment.end());
    command.emplace_back(SOTTO_DEPLOY_DIR "/mpirun");
    command.insert(command.end(), words.begin(), words.end());
    return command;
}

Arguments Hosts::launcher(int ranks, const Arguments& sotto) const {
    Arguments words = launch_options(ranks);
    words.insert(words.end(), {"--network", network});
    words.insert(words.end(), sotto.begin(), sotto.end());
    return launch_script(words);
}

void Hosts::run_outside(const std::string& script, const Arguments& words) const {
    Arguments command = entered({"sh", "-c", script});
    command.insert(command.end(), words.begin(), words.end());
    const Outcome outcome = Process(command, directory_).wait();
    EXPECT_EQ(outcome.exit_code, 0) << outcome.text();
}

void Hosts::set_link(int host, const char* state) const {
    run_outside("ip link set \"$0\" \"$1\"", {fmt::format("port{}", host), state});
}

Arguments Hosts::launch_options(int ranks) const {
    return {"-n",
            std::to_string(ranks),
            "--hostfile",
            directory_ / "hosts",
            "--mca",
            "plm_rsh_agent",
            directory_ / "agent"};
}

void Hosts::cut(int host) const {
    std::ofstream(directory_ / (name(host) + ".cut"));
    set_link(host, "down");
}

void Hosts::connect(int host) const {
    fs::remove(directory_ / (name(host) + ".cut"));
    set_link(host, "up");
}

void Hosts::power_off(int host) const {
    cut(host);
    // One that was listed may have ended meanwhile, another may have begun.
    run_outside(
        "for i in 1 2 3 4 5; do p=$(ip netns pids \"$0\"); [ -n \"$p\" ] || exit 0; "
        "kill -KILL $p 2>/dev/null; sleep 0.1; done; [ -z \"$(ip netns pids \"$0\")\" ]",
        {name(host)});
}

std::unique_ptr<PacketCapture> Hosts::capture(std::string& reason) const {
    std::unique_ptr<PacketCapture> made;
    in_network_of(fmt::format("/proc/{}/ns/net", init_),
                  [&] { made = PacketCapture::on_bridge(bridge, reason); });
    return made;
}

void Hosts::signal_one(int host, const std::string& text, int signal) const {
    const auto inode_of = [](const std::string& file) {
        struct ::stat found{};
        return ::stat(file.c_str(), &found) == 0 ? found.st_ino : 0;
    };
    const auto network = inode_of(fmt::format("/proc/{}/root/run/netns/{}", init_, name(host)));
    ASSERT_NE(network, 0U) << name(host);
    // No program is started for it: a training does not wait for who looks for one of its ranks.
    const std::regex begins(text);
    for (const auto& entry : fs::directory_iterator("/proc")) {
        const std::string pid = entry.path().filename();
        if (pid.find_first_not_of("0123456789") != std::string::npos ||
            inode_of(entry.path() / "ns/net") != network)
            continue;
        std::string line = content_of(entry.path() / "cmdline");
        std::ranges::replace(line, '\0', ' ');
        if (!std::regex_search(line, begins, std::regex_constants::match_continuous)) continue;
        EXPECT_EQ(::kill(std::stoi(pid), signal), 0) << line;
        return;
    }
    ADD_FAILURE() << name(host) << " runs nothing that begins with " << text;
}

}  // namespace sotto::test
