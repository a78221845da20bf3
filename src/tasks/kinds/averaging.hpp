#pragma once

#include "tasks/kinds/task_record.hpp"

namespace sotto {

/// Gossip averaging ([G]): the network estimates the mean of all points.
[[nodiscard]] TaskRecord averaging_task();

}  // namespace sotto
