#pragma once

#include <string>
#include <vector>

#include "config/config.hpp"
#include "sotto/net/network.hpp"
#include "sotto/plan/membership.hpp"
#include "tasks/local_task.hpp"

namespace sotto {

/// Tasks of the table (tasks/table.hpp).
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

}  // namespace sotto
