#pragma once

// What was read, in words; not installed.

#include <span>
#include <string>
#include <vector>

#include "tasks/task_data.hpp"

namespace sotto {

/// What every label is called: its text in a table, or the number that files have.
[[nodiscard]] std::vector<std::string> label_texts(const std::optional<TableShape>& table,
                                                   const LabelSet& labels);

/// The names of the files that agents read, by the agent's number, where every agent has files of
/// its own; of a pattern those that it matches on this host, "" of an agent that has none here.
/// Otherwise empty. LOCAL.
[[nodiscard]] std::vector<std::string> own_file_names(const TaskConfig& config, int agents);

/// What was read, a line each: of a table which column is predicted from which others; where every
/// agent has files of its own, who has which, and of the agents of this process which records. For
/// who runs this process: the counts are those of private data. @param local with file_names.
[[nodiscard]] std::vector<std::string> understood(const TaskConfig& config,
                                                  const LocalData& local,
                                                  const Membership& members,
                                                  std::span<const int> local_agents);

}  // namespace sotto
