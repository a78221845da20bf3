#pragma once

// What was read, in words; not installed.

#include <span>
#include <string>
#include <vector>

#include "run/task_data.hpp"

namespace sotto {

/// What every label is called: its text in a table, or the number that files have.
[[nodiscard]] std::vector<std::string> label_texts(const std::optional<TableShape>& table,
                                                   const LabelSet& labels);

/// What was understood of a table, a line each: which column is predicted from which others, and,
/// where every agent has files of its own, which records the agents of this process have. For who
/// runs this process: the counts are those of private data.
[[nodiscard]] std::vector<std::string> understood(const TaskConfig& config,
                                                  const LocalData& local,
                                                  const Membership& members,
                                                  std::span<const int> local_agents);

}  // namespace sotto
