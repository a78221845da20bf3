#pragma once

#include "tasks/kinds/task_record.hpp"

namespace sotto {

/// The quadratic functions of [W] eq. 11, one an agent; no data.
[[nodiscard]] TaskRecord quadratic_task();

}  // namespace sotto
