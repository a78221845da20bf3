#pragma once

// Paths that differ by agent; not installed.

#include <string>
#include <string_view>

namespace sotto {

/// Stands for the agent's number in a path.
inline constexpr std::string_view agent_placeholder = "%r";

/// Whether every agent has a path of its own.
[[nodiscard]] bool differs_by_agent(std::string_view path);

/// The path of one agent: every placeholder becomes its number.
[[nodiscard]] std::string path_of_agent(std::string path, int agent);

}  // namespace sotto
