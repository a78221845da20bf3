#include "program.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "core/stopwatch.hpp"

namespace sotto::test {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void fail(const char* call) {
    throw std::runtime_error(fmt::format("{}: {}", call, std::strerror(errno)));
}

/// False once the other side has closed.
bool read_some(int file, std::string& text) {
    std::array<char, 4096> buffer{};
    const ssize_t count = ::read(file, buffer.data(), buffer.size());
    if (count > 0) text.append(buffer.data(), static_cast<std::size_t>(count));
    return count > 0 || (count < 0 && errno == EINTR);
}

/// Numbers and command lines (arguments end with a zero byte) of all processes; one that has ended
/// has an empty line.
std::vector<std::pair<pid_t, std::string>> all_processes() {
    std::vector<std::pair<pid_t, std::string>> found;
    for (const auto& entry : fs::directory_iterator("/proc")) {
        const std::string name = entry.path().filename();
        if (std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; }))
            found.emplace_back(std::stoi(name), content_of(entry.path() / "cmdline"));
    }
    return found;
}

bool works_in(pid_t pid, const fs::path& directory) {
    std::error_code gone;
    return fs::read_symlink(fmt::format("/proc/{}/cwd", pid), gone) == directory;
}

/// Open MPI keeps its session here. Launchers that share a folder sometimes fail to start, because
/// one removes it while another creates it.
fs::path session_folder(fs::path directory) { return directory += "-mpi"; }

}  // namespace

TempDir::TempDir() { fs::create_directory(session_folder(path())); }

TempDir::~TempDir() {
    std::error_code ignored;
    fs::remove_all(session_folder(path()), ignored);
}

std::string Outcome::text() const {
    return fmt::format("exit code {}{} after {:.1f} s\n--- output\n{}\n--- errors\n{}",
                       exit_code,
                       timed_out ? " (killed: too slow)" : "",
                       seconds,
                       out,
                       err);
}

LongerGrace::LongerGrace() { ::setenv("OMPI_MCA_odls_base_sigkill_timeout", "4", 1); }
LongerGrace::~LongerGrace() { ::unsetenv("OMPI_MCA_odls_base_sigkill_timeout"); }

Arguments sotto_command(int ranks, const Arguments& arguments) {
    Arguments command;
    if (ranks != one_process) command = {SOTTO_MPIEXEC, "-n", std::to_string(ranks)};
    command.push_back(SOTTO_PROGRAM);
    command.insert(command.end(), arguments.begin(), arguments.end());
    return command;
}

Arguments disagreeing_command(const Arguments& rank_0,
                              const Arguments& others,
                              const Arguments& starter) {
    Arguments command = sotto_command(1, rank_0);
    command.insert(std::ranges::find(command, SOTTO_PROGRAM), starter.begin(), starter.end());
    const Arguments rest = sotto_command(2, others);
    command.emplace_back(":");
    command.insert(command.end(), std::ranges::find(rest, "-n"), rest.end());
    return command;
}

Arguments short_training(const Arguments& more) {
    Arguments arguments{"train",
                        "--task",
                        "quadratic",
                        "--topology",
                        "complete",
                        "--rounds",
                        "20",
                        "--eval-every",
                        "20",
                        "--quiet",
                        "--run-directory",
                        "run"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
}

bool happens(const std::function<bool()>& condition, double seconds) {
    for (const auto start = Clock::now(); seconds_since(start) < seconds; ::usleep(20000))
        if (condition()) return true;
    return false;
}

bool has_checkpoint(const fs::path& run, long after) {
    std::error_code ignored;
    if (!fs::exists(run / "config.ini", ignored)) return false;
    const fs::directory_iterator folders(run / "checkpoints", ignored);
    return std::ranges::any_of(folders, [&](const fs::directory_entry& folder) {
        return fs::exists(folder.path() / "manifest.json") &&
               std::stol(folder.path().filename()) > after;
    });
}

Process::Process(const Arguments& command, const fs::path& directory) {
    std::array<int, 2> out{}, err{};
    if (::pipe2(out.data(), O_CLOEXEC) != 0 || ::pipe2(err.data(), O_CLOEXEC) != 0) fail("pipe2");
    const std::string session = session_folder(directory);
    std::vector<char*> words;
    for (const auto& word : command) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    pid_ = ::fork();
    if (pid_ < 0) fail("fork");
    if (pid_ == 0) {
        ::setpgid(0, 0);
        ::setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
        ::setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
        // In the environment, so that the command is good for MPICH's launcher, too.
        ::setenv("OMPI_MCA_mpi_yield_when_idle", "1", 1);
        ::setenv("OMPI_MCA_rmaps_base_oversubscribe", "1", 1);
        ::setenv("OMPI_MCA_hwloc_base_binding_policy", "none", 1);
        ::setenv("OMPI_MCA_orte_tmpdir_base", session.c_str(), 1);
        // A build with sanitizers: MPI itself leaks, which must not change exit codes.
        ::setenv("ASAN_OPTIONS", "detect_leaks=0", 0);
        const int nothing = ::open("/dev/null", O_RDONLY);
        ::dup2(nothing, STDIN_FILENO);
        ::dup2(out[1], STDOUT_FILENO);
        ::dup2(err[1], STDERR_FILENO);
        if (::chdir(directory.c_str()) == 0) ::execvp(words.front(), words.data());
        ::_exit(127);
    }
    ::setpgid(pid_, pid_);  // both sides, so that it holds whoever runs first
    ::close(out[1]);
    ::close(err[1]);
    out_ = out[0];
    err_ = err[0];
}

Process::~Process() {
    if (!ended_) {
        ::kill(-pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }
    ::close(out_);
    ::close(err_);
}

void Process::signal(int signal) const { ::kill(pid_, signal); }

void Process::signal_group(int signal) const { ::kill(-pid_, signal); }

bool Process::has_written() const {
    pollfd out{out_, POLLIN, 0};
    return ::poll(&out, 1, 0) > 0 && (out.revents & POLLIN) != 0;
}

namespace {

/// Open MPI's mpirun sometimes crashes itself, once a rank has ended the job and it has said so:
/// what the rank said counts then.
void forgive_crash_of_launcher(Outcome& outcome) {
    constexpr std::string_view said = "with errorcode ";
    const auto code = outcome.err.find(said);
    if (outcome.exit_code != 128 + SIGSEGV || code == std::string::npos) return;
    if (outcome.err.find("PMIx_server_finalize", code) == std::string::npos) return;
    outcome.exit_code = std::atoi(outcome.err.c_str() + code + said.size());
}

}  // namespace

Outcome Process::wait() {
    Outcome outcome;
    const auto start = Clock::now();
    std::array<pollfd, 2> pipes{{{out_, POLLIN, 0}, {err_, POLLIN, 0}}};
    std::array<std::string*, 2> texts{&outcome.out, &outcome.err};
    while (pipes[0].fd >= 0 || pipes[1].fd >= 0) {
        if (!outcome.timed_out && seconds_since(start) > patience) {
            outcome.timed_out = true;
            ::kill(-pid_, SIGKILL);
        }
        // A process that outlives its killed launcher could keep the pipes open.
        if (seconds_since(start) > patience + 5) break;
        if (::poll(pipes.data(), pipes.size(), 50) <= 0) continue;
        for (std::size_t i = 0; i < pipes.size(); ++i)
            if (pipes[i].revents != 0 && !read_some(pipes[i].fd, *texts[i])) pipes[i].fd = -1;
    }
    int status = 0;
    while (::waitpid(pid_, &status, WNOHANG) == 0) {
        if (!outcome.timed_out && seconds_since(start) > patience) {
            outcome.timed_out = true;
            ::kill(-pid_, SIGKILL);
        }
        ::usleep(2000);
    }
    ended_ = true;
    outcome.seconds = seconds_since(start);
    outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    forgive_crash_of_launcher(outcome);
    return outcome;
}

Outcome run_sotto(const TempDir& directory, int ranks, const Arguments& arguments) {
    return Process(sotto_command(ranks, arguments), directory.path()).wait();
}

bool all_ended(const fs::path& directory) {
    const auto is_of_it = [&](const auto& process) {
        const auto& [pid, line] = process;
        return works_in(pid, directory) || line.find(directory.string()) != std::string::npos;
    };
    return happens([&] { return std::ranges::none_of(all_processes(), is_of_it); }, 5);
}

std::vector<pid_t> ranks_with(const std::string& text) {
    std::vector<pid_t> ranks;
    const std::string supervisor = std::string(SOTTO_PROGRAM) + '\0' + "supervise";
    for (const auto& [pid, line] : all_processes())
        if (line.starts_with(SOTTO_PROGRAM) && !line.starts_with(supervisor) &&
            line.find(text) != std::string::npos)
            ranks.push_back(pid);
    return ranks;
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

std::vector<std::string> error_lines(const std::string& err) {
    std::vector<std::string> found;
    for (const auto& line : lines_of(err))
        if (line.find("sotto: ") != std::string::npos) found.push_back(line);
    return found;
}

std::string content_of(const fs::path& path) {
    std::ifstream stream(path, std::ios::binary);
    std::ostringstream content;
    content << stream.rdbuf();
    return std::move(content).str();
}

nlohmann::json json_of(const fs::path& path) { return nlohmann::json::parse(content_of(path)); }

void expect_refused(const TempDir& directory,
                    const Arguments& arguments,
                    int exit_code,
                    const std::string& part) {
    const Outcome outcome = run_sotto(directory, one_process, arguments);
    EXPECT_EQ(outcome.exit_code, exit_code) << outcome.text();
    ASSERT_EQ(error_lines(outcome.err).size(), 1U) << outcome.err;
    EXPECT_NE(outcome.err.find(part), std::string::npos) << outcome.err;
}

std::string small_data(int records) {
    std::string text;
    for (int i = 0; i < records; ++i)
        text += fmt::format("{} 1:{} 2:{} 3:1\n", i % 2 == 0 ? "+1" : "-1", i % 7, 0.25 * (i % 5));
    return text;
}

}  // namespace sotto::test
