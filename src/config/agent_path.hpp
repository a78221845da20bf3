#pragma once

// Paths that differ by agent.

#include <string>
#include <string_view>
#include <vector>

namespace sotto {

/// Stands for the agent's number in a path.
inline constexpr std::string_view agent_placeholder = "%r";

/// Whether the path is a pattern, with * or ?, that matches one file per agent.
[[nodiscard]] bool is_pattern(std::string_view path);

/// The files that match a pattern, in natural order: site2 before site10. LOCAL.
/// @throws DataError if there is none.
[[nodiscard]] std::vector<std::string> matching_files(const std::string& pattern);

/// Whether every agent has its own path: it has a placeholder or is a pattern.
[[nodiscard]] bool differs_by_agent(std::string_view path);

/// The path of one agent, with its number in place of every placeholder.
[[nodiscard]] std::string path_of_agent(std::string path, int agent);

/// The files of "FILE[,FILE...]" for one agent. If the whole text is the name of an existing file,
/// that is the file. Otherwise commas separate files, and "\," is a comma in a name. A pattern
/// gives the file at the agent's number in order, from 0. LOCAL.
/// @throws DataError if a pattern matches fewer files.
[[nodiscard]] std::vector<std::string> listed_files(const std::string& list, int agent);

}  // namespace sotto
