#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sotto::cli {

/// What a child process is given besides its words.
struct ChildSetting {
    int out = -1;  ///< descriptor for its standard output; -1: ours
    int err = -1;  ///< likewise for standard error
    std::vector<std::pair<std::string, std::string>> environment{};  ///< set beside ours
    /// In a session of its own, where a terminal's Ctrl-C does not reach it; it is ended with us
    /// all the same (SIGTERM).
    bool own_session = false;
};

/// A child process, without standard input.
class ChildProcess {
  public:
    /// @throws Error if no process can be made. A program that cannot be started ends with 127.
    ChildProcess(const std::vector<std::string>& words, const ChildSetting& setting);
    [[nodiscard]] pid_t pid() const { return pid_; }
    /// Its exit code, 128 + signal where one ended it; nothing while it runs.
    [[nodiscard]] std::optional<int> ended();
    /// Waits for the end. @return as `ended`.
    int wait();
    /// Nothing where it has ended.
    void signal(int number);

  private:
    pid_t pid_ = -1;
    std::optional<int> code_;
};

/// Processes that this one has started, and that still run.
[[nodiscard]] std::vector<pid_t> children_of(pid_t parent);

}  // namespace sotto::cli
