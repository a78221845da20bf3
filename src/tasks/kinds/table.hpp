#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sotto/core/registry.hpp"
#include "tasks/kinds/task_record.hpp"

namespace sotto {

/// The tasks a configuration can name. Beside them the name of a shared library is one too
/// (own_task.hpp).
[[nodiscard]] Registry<TaskRecord>& tasks();

/// Names of the tasks for which something holds, in the order of the table.
[[nodiscard]] std::vector<std::string> task_names_where(
    const std::function<bool(const TaskRecord&)>& holds);

}  // namespace sotto
