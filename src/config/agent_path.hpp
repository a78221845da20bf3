#pragma once

// Paths that differ by agent.

#include <string>
#include <string_view>
#include <vector>

namespace sotto {

/// Stands for the agent's number in a path.
inline constexpr std::string_view agent_placeholder = "%r";

/// Whether the path is a pattern, with * or ?, of several files: each agent has one of them.
[[nodiscard]] bool is_pattern(std::string_view path);

/// The files that a pattern matches, in natural order: site2 before site10. LOCAL.
/// @throws DataError where it matches none.
[[nodiscard]] std::vector<std::string> matching_files(const std::string& pattern);

/// Whether every agent has a path of its own: there is a placeholder, or it is a pattern.
[[nodiscard]] bool differs_by_agent(std::string_view path);

/// The path of one agent: every placeholder becomes its number.
[[nodiscard]] std::string path_of_agent(std::string path, int agent);

/// The files of "FILE[,FILE...]", of one agent. A list whose whole text is the name of a file is
/// that file; otherwise files stand between commas, and "\," is a comma of a name. Of a pattern the
/// agent's number counts the files, from 0. LOCAL.
/// @throws DataError where a pattern matches fewer files.
[[nodiscard]] std::vector<std::string> listed_files(const std::string& list, int agent);

}  // namespace sotto
