#pragma once

#include <string>

#include "tasks/kinds/task_record.hpp"

namespace sotto {

/// The task that a configuration's `task` means: a shared library (own_task.hpp), or one of the
/// table. @throws ConfigError for a name that is neither, with the nearest one.
[[nodiscard]] TaskRecord named_task(const std::string& name);

}  // namespace sotto
