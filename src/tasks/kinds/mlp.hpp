#pragma once

#include "tasks/kinds/task_record.hpp"

namespace sotto {

/// One hidden layer, for classes or a value to predict.
[[nodiscard]] TaskRecord mlp_task();

}  // namespace sotto
