#include "commands/supervise/child_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "core/signal_actions.hpp"
#include "sotto/core/error.hpp"

namespace sotto::cli {

namespace {

/// In the child: does not return.
[[noreturn]] void become(std::vector<char*>& words, const ChildSetting& setting, pid_t parent) {
    if (setting.own_session) {
        ::setsid();
        ::prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (::getppid() != parent) ::_exit(128 + SIGTERM);  // it has ended meanwhile
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

}  // namespace sotto::cli
