#pragma once

#include "run/tasks/task_record.hpp"

namespace sotto {

/// Linear classifier of any number of classes.
[[nodiscard]] TaskRecord softmax_task();

}  // namespace sotto
