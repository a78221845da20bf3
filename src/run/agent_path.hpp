#pragma once

// Paths that differ by agent; not installed.

#include <string>
#include <string_view>
#include <vector>

namespace sotto {

/// Stands for the agent's number in a path.
inline constexpr std::string_view agent_placeholder = "%r";

/// Whether every agent has a path of its own.
[[nodiscard]] bool differs_by_agent(std::string_view path);

/// The path of one agent: every placeholder becomes its number.
[[nodiscard]] std::string path_of_agent(std::string path, int agent);

/// The files of "FILE[,FILE...]", of one agent. A list whose whole text is the name of a file is
/// that file; otherwise files stand between commas, and "\," is a comma of a name. LOCAL.
[[nodiscard]] std::vector<std::string> listed_files(const std::string& list, int agent);

}  // namespace sotto
