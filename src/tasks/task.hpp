#pragma once

#include <memory>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "net/network.hpp"
#include "sotto/learn/objective.hpp"
#include "sotto/plan/membership.hpp"
#include "tasks/local_task.hpp"
#include "tasks/task_table.hpp"

namespace sotto {

/// Tasks of the table (task_table.hpp).
[[nodiscard]] std::vector<std::string> task_names();
/// Whether gradients depend on the data alone, not on messages: partial views are exact.
[[nodiscard]] bool has_fixed_inputs(const TaskConfig& config);

/// The agents of this process with their data: of a task of the table, or of a shared library.
/// COLLECTIVE. @throws ConfigError, DataError, the same on every process.
[[nodiscard]] LocalTask build_task(const TaskConfig& config,
                                   Network& network,
                                   const Membership& members);

/// @param what needs it, for the message.  @throws DataError where models of so many parameters do
/// not fit into the memory that is free.
void require_room(Eigen::Index parameters, std::size_t agents, const std::string& what);

/// What follows from the objectives of a task: the model they
/// begin with, and how many records all agents have. COLLECTIVE.
/// @throws DataError, NetworkError, the same on every process.
[[nodiscard]] LocalTask settled_task(LocalTask task, const TaskConfig& config, Network& network);

/// The task that a configuration's `task` means: a shared library (SOTTO_OWN_TASK), or one of the
/// table. @throws ConfigError for a name that is neither, with the nearest one.
[[nodiscard]] TaskRecord named_task(const std::string& name);

/// Whether a task's name means a shared library: it holds a '/' or ends with ".so".
[[nodiscard]] bool is_own_task(const std::string& task);

/// A shared library that makes objectives (sotto/learn/objective.hpp).
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
