#pragma once

#include <memory>
#include <string>

#include "config/config.hpp"
#include "sotto/learn/objective.hpp"
#include "tasks/kinds/task_record.hpp"

namespace sotto {

/// Whether a task's name means a shared library: it holds a '/' or ends with ".so".
[[nodiscard]] bool is_own_task(const std::string& task);

/// A shared library that makes objectives (sotto/learn/own_task.hpp).
class OwnTask {
  public:
    /// Loads the library, for good. @throws ConfigError with path and reason if it is none, is made
    /// for another version, or has no factory.
    explicit OwnTask(const std::string& path);
    /// @throws ConfigError if the factory gives nothing or an objective without parameters; what it
    /// throws itself.
    [[nodiscard]] std::unique_ptr<Objective> make(const TaskConfig& config,
                                                  int agent,
                                                  int agents) const;

  private:
    std::string path_;
    void* factory_ = nullptr;
};

/// The task that a shared library is. Its builder throws ConfigError where the library is none.
[[nodiscard]] TaskRecord own_task(const std::string& path);

}  // namespace sotto
