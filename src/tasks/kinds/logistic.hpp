#pragma once

#include "tasks/kinds/task_record.hpp"

namespace sotto {

/// Logistic regression on two classes.
[[nodiscard]] TaskRecord logistic_task();

}  // namespace sotto
