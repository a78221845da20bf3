#pragma once

#include <memory>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "net/control.hpp"
#include "sotto/learn/objective.hpp"
#include "sotto/plan/membership.hpp"
#include "tasks/local_task.hpp"
#include "tasks/task_table.hpp"

namespace sotto {

[[nodiscard]] std::vector<std::string> task_names();
/// Whether gradients depend on the data alone, not on messages, so that partial views are exact.
[[nodiscard]] bool has_fixed_inputs(const TaskConfig& config);

/// The local agents with their data, for a task of the table or of a shared library. COLLECTIVE.
/// @throws ConfigError, DataError, the same on every process.
[[nodiscard]] LocalTask build_task(const TaskConfig& config,
                                   Control& network,
                                   const Membership& members);

/// @param what needs it, for the message.  @throws DataError if models of so many parameters exceed
/// the free memory.
void require_room(Eigen::Index parameters, std::size_t agents, const std::string& what);

/// Completes a task from its objectives: initial model, and numbers of records. COLLECTIVE.
/// @throws DataError, NetworkError, the same on every process.
[[nodiscard]] LocalTask settled_task(LocalTask task, const TaskConfig& config, Control& network);

/// A shared library (SOTTO_OWN_TASK), or a task of the table. @throws ConfigError for any other
/// name, suggesting the nearest.
[[nodiscard]] TaskRecord named_task(const std::string& name);

/// Whether a name means a shared library: it contains '/' or ends with ".so".
[[nodiscard]] bool is_own_task(const std::string& task);

/// A shared library that makes objectives (sotto/learn/objective.hpp).
class OwnTask {
  public:
    /// Loads the library and never unloads it. @throws ConfigError with path and reason if it is
    /// none, is made for another version, or has no factory.
    explicit OwnTask(const std::string& path);
    /// @throws ConfigError if the factory returns nothing or an objective without parameters;
    /// exceptions of the factory.
    [[nodiscard]] std::unique_ptr<Objective> make(const TaskConfig& config,
                                                  int agent,
                                                  int agents) const;

  private:
    std::string path_;
    void* factory_ = nullptr;
};

/// The task of a shared library. Its builder throws ConfigError if the library is invalid.
[[nodiscard]] TaskRecord own_task(const std::string& path);

}  // namespace sotto
