#pragma once

#include <memory>

#include "run/task_data.hpp"
#include "sotto/learn/objective.hpp"

namespace sotto {

/// The objective of a built-in task on records of one agent; data say what all agents have in
/// common. @throws ConfigError for a task that does not fit the data; DataError.
[[nodiscard]] std::unique_ptr<Objective> make_record_objective(const TaskConfig& config,
                                                               const LocalData& data,
                                                               Dataset shard,
                                                               std::shared_ptr<const Dataset> test);

}  // namespace sotto
