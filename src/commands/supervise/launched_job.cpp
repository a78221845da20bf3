#include "commands/supervise/launched_job.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string_view>
#include <thread>
#include <utility>

#include "core/files.hpp"
#include "core/output.hpp"
#include "core/signal_actions.hpp"
#include "core/stopwatch.hpp"
#include "core/text_input.hpp"
#include "net/mpi_session.hpp"
#include "options/option_formats.hpp"
#include "options/option_parser.hpp"
#include "options/train_options.hpp"
#include "sotto/core/error.hpp"

namespace sotto::cli {

namespace {

/// Forwards the launcher's standard error and looks for messages about an abort.
class LauncherErrors {
  public:
    /// Reads and forwards whole lines.
    void add(std::string_view text) {
        rest_ += text;
        for (std::size_t end; (end = rest_.find('\n')) != std::string::npos;) {
            read(rest_.substr(0, end + 1));
            rest_.erase(0, end + 1);
        }
    }
    void finish() {
        if (!rest_.empty()) read(rest_);
        rest_.clear();
    }
    [[nodiscard]] bool aborted() const { return aborted_.has_value(); }
    [[nodiscard]] double seconds_since_abort() const { return seconds_since(*aborted_); }
    /// The exit code of the rank that ended the job.
    [[nodiscard]] std::optional<int> code() const { return code_; }

  private:
    void read(const std::string& line) {
        // Before the colon stands the name that mpirun was started by.
        static const std::string passed_on =
            fmt::format(": Forwarding signal {} to job\n", SIGUSR1);
        if (line.ends_with(passed_on)) return;
        if (const std::optional<int> announced = announced_end(line)) {
            note_abort(*announced);
            // A line that begins with another rank's text is forwarded.
            if (line.starts_with(ends_job)) return;
        }
        std::fputs(line.c_str(), stderr);
        const std::optional<int> code = code_in(line);
        if (code || line.find("the job has been aborted.") != std::string::npos)
            note_abort(code.value_or(0));
    }
    /// The code of a rank that called MPI_Abort or returned it; mpirun prints a line for each.
    static std::optional<int> code_in(std::string_view line) {
        using namespace std::string_view_literals;
        for (const auto& [before, after] :
             {std::pair{"with errorcode "sv, '.'}, {"  Exit code:    "sv, '\n'}}) {
            int code = 0;
            if (line.starts_with(before) &&
                *std::from_chars(line.data() + before.size(), line.data() + line.size(), code)
                        .ptr == after)
                return code;
        }
        return std::nullopt;
    }
    void note_abort(int code) {
        if (!aborted_) aborted_ = Clock::now();
        if (!code_ && code > 0 && code < 256) code_ = code;
    }

    std::string rest_;
    std::optional<Clock::time_point> aborted_;
    std::optional<int> code_;
};

/// One launcher from its start to its end.
class LaunchedJob {
  public:
    LaunchedJob(const std::vector<std::string>& command, const LaunchSetting& setting)
        : setting_(setting) {
        std::array<int, 2> pipe{};
        if (::pipe2(pipe.data(), O_CLOEXEC) != 0)
            throw Error(ExitCode::other, fmt::format("no pipe ({})", std::strerror(errno)));
        input_ = pipe[0];
        launcher_.emplace(command,
                          ChildSetting{setting.output_to_error ? STDERR_FILENO : -1,
                                       pipe[1],
                                       {{"TMPDIR", setting.session}, {"SOTTO_STOPS_IN_TIME", "1"}},
                                       true});
        ::close(pipe[1]);
    }
    LaunchedJob(const LaunchedJob&) = delete;
    LaunchedJob& operator=(const LaunchedJob&) = delete;
    ~LaunchedJob() {
        if (input_ >= 0) ::close(input_);
    }

    [[nodiscard]] int run() {
        while (!launcher_->ended()) {
            relay(200);
            pass_stop_on();
            if (!lost_ && errors_.aborted() &&
                errors_.seconds_since_abort() > 3 + 2 * setting_.kill_seconds)
                end_launcher();
        }
        // Processes that the launcher leaves behind may keep the pipe open.
        for (const auto end = Clock::now(); input_ >= 0 && seconds_since(end) < 1;) relay(50);
        errors_.finish();
        return settled(launcher_->wait());
    }

  private:
    void relay(int milliseconds) {
        pollfd waited{input_, POLLIN, 0};
        if (input_ < 0 || ::poll(&waited, 1, milliseconds) <= 0) {
            if (input_ < 0) pause_unless_stopped(0.001 * milliseconds);
            return;
        }
        std::array<char, 4096> buffer{};
        const ssize_t count = ::read(input_, buffer.data(), buffer.size());
        if (count < 0 && errno == EINTR) return;
        if (count > 0) {
            errors_.add({buffer.data(), static_cast<std::size_t>(count)});
            return;
        }
        ::close(input_);
        input_ = -1;
    }

    void pass_stop_on() {
        if (stop_requests() > 1 && !ended_) {
            launcher_->signal(SIGTERM);
            ended_ = true;
        }
        // A launcher that is ending would be killed by the signal.
        if (stop_requests() == 0 || ended_ || errors_.aborted()) return;
        if (!told_)
            say(stderr, "sotto supervise: stopping; a second signal ends the job at once\n");
        if (told_ && seconds_since(*told_) < 1) return;
        launcher_->signal(SIGUSR1);
        told_ = Clock::now();
    }

    void end_launcher() {
        lost_ = true;
        const std::vector<pid_t> children = children_of(launcher_->pid());  // ssh to that host
        launcher_->signal(SIGKILL);
        for (const pid_t child : children) ::kill(child, SIGTERM);
    }

    [[nodiscard]] int settled(int status) const {
        if (lost_) {
            say(stderr,
                "sotto supervise: the job was aborted but a host does not answer; mpirun "
                "ended\n");
            status = static_cast<int>(ExitCode::network);
        }
        // mpirun may crash after an abort.
        if (errors_.code() && (lost_ || status > 128)) status = *errors_.code();
        if (ended_ || (stop_requests() > 0 && status > 128)) status = 128 + first_stop_signal();
        return status;
    }

    LaunchSetting setting_;
    std::optional<ChildProcess> launcher_;
    LauncherErrors errors_;
    int input_ = -1;
    bool lost_ = false;   // a host, after an abort
    bool ended_ = false;  // by a second request to stop
    std::optional<Clock::time_point> told_;
};

}  // namespace

int run_launcher(const std::vector<std::string>& command, const LaunchSetting& setting) {
    return LaunchedJob(command, setting).run();
}

namespace {

/// Runs in the child and does not return.
[[noreturn]] void become(std::vector<char*>& words, const ChildSetting& setting, pid_t parent) {
    if (setting.own_session) {
        ::setsid();
        ::prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (::getppid() != parent) ::_exit(128 + SIGTERM);  // the parent has ended
    }
    default_signals({SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGXFSZ});
    ::dup2(::open("/dev/null", O_RDONLY), STDIN_FILENO);
    if (setting.out >= 0) ::dup2(setting.out, STDOUT_FILENO);
    if (setting.err >= 0) ::dup2(setting.err, STDERR_FILENO);
    for (const auto& [name, value] : setting.environment) ::setenv(name.c_str(), value.c_str(), 1);
    ::execvp(words.front(), words.data());
    ::dprintf(STDERR_FILENO,
              "sotto supervise: %s cannot be started (%s)\n",
              words.front(),
              std::strerror(errno));
    ::_exit(127);
}

int code_of(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status); }

}  // namespace

ChildProcess::ChildProcess(const std::vector<std::string>& words, const ChildSetting& setting) {
    std::vector<char*> pointers;
    for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
    pointers.push_back(nullptr);
    const pid_t parent = ::getpid();
    pid_ = ::fork();
    if (pid_ == 0) become(pointers, setting, parent);
    if (pid_ < 0)
        throw Error(ExitCode::other,
                    fmt::format("{} cannot be started ({})", words.front(), std::strerror(errno)));
}

std::optional<int> ChildProcess::ended() {
    int status = 0;
    if (!code_ && ::waitpid(pid_, &status, WNOHANG) == pid_) code_ = code_of(status);
    return code_;
}

int ChildProcess::wait() {
    int status = 0;
    while (!code_)
        if (::waitpid(pid_, &status, 0) == pid_) code_ = code_of(status);
    return *code_;
}

void ChildProcess::signal(int number) {
    if (!ended()) ::kill(pid_, number);
}

std::vector<pid_t> children_of(pid_t parent) {
    std::vector<pid_t> found;
    std::error_code failure;
    for (const auto& entry : std::filesystem::directory_iterator("/proc", failure)) {
        const std::string name = entry.path().filename();
        pid_t pid = 0;
        if (std::from_chars(name.data(), name.data() + name.size(), pid).ptr !=
            name.data() + name.size())
            continue;
        std::ifstream status(entry.path() / "status");
        for (std::string line; std::getline(status, line);)
            if (line == fmt::format("PPid:\t{}", parent)) found.push_back(pid);
    }
    return found;
}

namespace {

using Words = std::vector<std::string>;

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> names) {
    return std::ranges::find(names, word) != names.end();
}

std::optional<int> whole_number(const std::string& text) {
    int number = 0;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (status != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return number;
}

/// A parameter of Open MPI, from the words or the environment.
void take_parameter(LauncherWords& words, const std::string& name, const std::string& value) {
    if (name == "plm_rsh_agent") words.remote_shell = value;
    if (name == "plm_rsh_args") words.remote_shell_options = value;
    // mpirun reports a wrong value.
    if (name == "odls_base_sigkill_timeout") words.kill_seconds = whole_number(value).value_or(1);
    if (name == "btl_tcp_if_include" || name == "btl_tcp_if_exclude") words.names_network = true;
}

void take_environment(LauncherWords& words) {
    for (const char* name : {"plm_rsh_agent",
                             "plm_rsh_args",
                             "odls_base_sigkill_timeout",
                             "btl_tcp_if_include",
                             "btl_tcp_if_exclude"})
        if (const char* value = std::getenv(("OMPI_MCA_" + std::string(name)).c_str()))
            take_parameter(words, name, value);
}

/// Reads one option of the launcher with its values. @return how many words it has.
std::size_t take_option(LauncherWords& words, const Words& all, std::size_t at) {
    const std::string& word = all[at];
    const std::size_t left = all.size() - at - 1;
    if (is_one_of(word, {"--mca", "-mca"}) && left >= 2) {
        take_parameter(words, all[at + 1], all[at + 2]);
        words.launcher.insert(words.launcher.end(), {word, all[at + 1], all[at + 2]});
        return 3;
    }
    if (left == 0 || !is_one_of(word,
                                {"-n",
                                 "-np",
                                 "--n",
                                 "--np",
                                 "-c",
                                 "--hostfile",
                                 "-hostfile",
                                 "--machinefile",
                                 "-machinefile",
                                 "-H",
                                 "--host",
                                 "-host"})) {
        words.launcher.push_back(word);
        return 1;
    }
    const std::string& value = all[at + 1];
    if (is_one_of(word, {"-H", "--host", "-host"})) {
        words.hosts = value;
    } else if (word.find("file") != std::string::npos) {
        words.hostfile = value;
    } else {
        words.ranks = whole_number(value);
        if (!words.ranks || *words.ranks < 1)
            throw ConfigError(
                fmt::format("{}: '{}' is not a number of ranks (at least 1)", word, value));
    }
    return 2;
}

/// The host name at the start of a line of a host file; empty if there is none.
std::string host_of_line(const std::string& line) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::string name;
    words >> name;
    return name;
}

/// The items of --host.
Words listed(const std::string& hosts) {
    Words items;
    std::istringstream stream(hosts);
    for (std::string item; std::getline(stream, item, ',');) items.push_back(item);
    return items;
}

std::string name_of_item(const std::string& item) { return item.substr(0, item.find(':')); }

}  // namespace

bool LauncherWords::is_mpirun() const {
    return !launcher.empty() &&
           is_one_of(std::filesystem::path(launcher.front()).filename().string(),
                     {"mpirun", "mpiexec", "orterun"});
}

LauncherWords parse_launcher(const Words& words, const Words& commands) {
    const auto is_command = [&](const std::string& word) {
        return std::ranges::find(commands, word) != commands.end();
    };
    if (std::ranges::find(words, ":") != words.end())
        throw ConfigError("supervise: ':' starts several programs; one command line is supervised");
    const auto command = std::find_if(words.begin(), words.end(), is_command);
    if (command == words.end() || command == words.begin())
        throw ConfigError(
            "supervise: a command line that starts sotto is missing after --, for example: sotto "
            "supervise -- mpirun -n 20 sotto train --data a9a.gz");
    LauncherWords result;
    take_environment(result);
    result.sotto.assign(command, words.end());
    result.program = *(command - 1);
    const Words before(words.begin(), command - 1);
    for (std::size_t at = 0; at < before.size();) at += take_option(result, before, at);
    return result;
}

Words composed(const LauncherWords& words, const Words& more) {
    Words all;
    if (!words.launcher.empty()) {
        all.push_back(words.launcher.front());
        if (words.ranks) all.insert(all.end(), {"-n", std::to_string(*words.ranks)});
        all.insert(all.end(), words.launcher.begin() + 1, words.launcher.end());
        if (words.hostfile) all.insert(all.end(), {"--hostfile", *words.hostfile});
        if (words.hosts) all.insert(all.end(), {"--host", *words.hosts});
        // Tells the ranks that the supervisor waits for them after it asks them to stop.
        if (words.is_mpirun()) all.insert(all.end(), {"-x", "SOTTO_STOPS_IN_TIME"});
        all.insert(all.end(), more.begin(), more.end());
    }
    all.push_back(words.program);
    all.insert(all.end(), words.sotto.begin(), words.sotto.end());
    return all;
}

Words named_hosts(const LauncherWords& words) {
    Words names;
    if (words.hostfile) {
        std::istringstream lines(std::string(without_byte_order_mark(read_file(*words.hostfile))));
        for (std::string line; std::getline(lines, line);)
            if (std::string name = host_of_line(line); !name.empty())
                names.push_back(std::move(name));
    } else if (words.hosts) {
        for (const std::string& item : listed(*words.hosts)) names.push_back(name_of_item(item));
    }
    std::ranges::sort(names);
    const auto repeated = std::ranges::unique(names);
    names.erase(repeated.begin(), repeated.end());
    return names;
}

void leave_out(LauncherWords& words, const Words& hosts, const std::string& file) {
    const auto stays = [&](const std::string& name) {
        return std::ranges::find(hosts, name) == hosts.end();
    };
    if (words.hostfile) {
        std::istringstream lines(std::string(without_byte_order_mark(read_file(*words.hostfile))));
        std::string kept;
        for (std::string line; std::getline(lines, line);)
            if (const std::string name = host_of_line(line); !name.empty() && stays(name))
                kept += line + "\n";
        write_file_atomically(file, kept);
        words.hostfile = file;
    } else if (words.hosts) {
        Words kept;
        for (const std::string& item : listed(*words.hosts))
            if (stays(name_of_item(item))) kept.push_back(item);
        words.hosts = fmt::format("{}", fmt::join(kept, ","));
    }
}

namespace {

/// The words except --without, whose value is in the same word or the next.
std::vector<std::string> but_without(const std::vector<std::string>& words) {
    std::vector<std::string> kept;
    for (std::size_t at = 0; at < words.size(); ++at) {
        if (words[at] == "--without")
            ++at;
        else if (!words[at].starts_with("--without="))
            kept.push_back(words[at]);
    }
    return kept;
}

}  // namespace

TrainWords read_train_words(const std::vector<std::string>& words) {
    const OptionTexts given = parse_options(with_general(train_option_set().written()), words);
    const auto value = [&](const char* name) {
        const auto place = given.find(name);
        return place == given.end() ? std::nullopt : std::optional(place->second);
    };
    TrainWords read;
    read.options = but_without(words);
    if (const auto json = value("json")) read.beside.push_back("--json=" + *json);
    for (const char* flag : {"quiet", "verbose"})
        if (value(flag) == "true") read.beside.push_back(std::string("--") + flag);
    // A host that lost its disk needs its identity to decrypt copies of its checkpoints.
    if (const auto identity = value("identity")) read.beside.push_back("--identity=" + *identity);
    if (const auto agents = value("without"))
        read.without = parse_agent_numbers("without", *agents);
    read.directory = value("run-directory");
    read.resume = value("resume");
    read.has_interval = value("checkpoint-every").has_value();
    read.dry_run = value("dry-run") == "true";
    return read;
}

std::vector<std::string> without_words(const std::vector<int>& agents) {
    if (agents.empty()) return {};
    return {"--without", fmt::format("{}", fmt::join(agents, ","))};
}

namespace {

volatile std::sig_atomic_t requests = 0;
volatile std::sig_atomic_t first_request = 0;

void count_request(int signal) {
    if (requests == 0) first_request = signal;
    requests = requests + 1;
}

}  // namespace

void count_stop_requests() {
    handle_signals_ending_waits({SIGINT, SIGTERM, SIGHUP, SIGUSR1}, count_request);
}

int stop_requests() { return requests; }
int first_stop_signal() { return first_request; }

void forget_stop_requests() {
    requests = 0;
    first_request = 0;
}

void pause_unless_stopped(double seconds) {
    const auto start = Clock::now();
    while (requests == 0 && seconds_since(start) < seconds)
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
}

}  // namespace sotto::cli
