#pragma once

#include "tasks/kinds/task_record.hpp"

namespace sotto {

/// Convolutions, for images with classes.
[[nodiscard]] TaskRecord cnn_task();

}  // namespace sotto
