#pragma once

#include "tasks/kinds/task_record.hpp"

namespace sotto {

/// Linear classifier of any number of classes.
[[nodiscard]] TaskRecord softmax_task();

}  // namespace sotto
