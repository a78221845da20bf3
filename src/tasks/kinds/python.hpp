#pragma once

#include <string>

#include "tasks/kinds/task_record.hpp"

namespace sotto {

/// Of a run whose gradients a Python program computes.
inline constexpr const char* python_task_name = "python";
/// The program alone makes its agents (sotto.Agent); without it the task only says so.
[[nodiscard]] TaskRecord python_task();

}  // namespace sotto
