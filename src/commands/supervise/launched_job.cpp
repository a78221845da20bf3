#include "commands/supervise/launched_job.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <optional>
#include <utility>

#include "commands/supervise/child_process.hpp"
#include "commands/supervise/stop_requests.hpp"
#include "core/output.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/stopwatch.hpp"
#include "sotto/net/launch_environment.hpp"

namespace sotto::cli {

namespace {

/// What mpirun and the ranks say of an abort, and mpirun of a signal that it passes on.
class LauncherErrors {
  public:
    /// Passes whole lines on, and reads them.
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
    /// With which a rank ended the job.
    [[nodiscard]] std::optional<int> code() const { return code_; }

  private:
    void read(const std::string& line) {
        // Under the name by which it was started.
        static const std::string passed_on =
            fmt::format(": Forwarding signal {} to job\n", SIGUSR1);
        if (line.ends_with(passed_on)) return;
        if (const std::optional<int> announced = announced_end(line)) {
            note_abort(*announced);
            // Where it stands behind words of another rank, these are passed on.
            if (line.starts_with(ends_job)) return;
        }
        std::fputs(line.c_str(), stderr);
        const std::optional<int> code = code_in(line);
        if (code || line.find("the job has been aborted.") != std::string::npos)
            note_abort(code.value_or(0));
    }
    /// Of a rank that called MPI_Abort, or that returned it: mpirun has a line for each.
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
        // What the launcher left running may keep the pipe open.
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
        // A launcher that ends no longer passes it on: it would be killed by it.
        if (stop_requests() == 0 || ended_ || errors_.aborted()) return;
        if (!told_) say(stderr, "sotto supervise: stopping; once more ends it at once\n");
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

}  // namespace sotto::cli
