#pragma once

#include <string>
#include <vector>

namespace sotto {

/// Observers in a sentence: "Agent 3", "Agents 2, 5"; without any "Whoever sees every message".
[[nodiscard]] std::string label_of_observers(const std::vector<int>& members);

}  // namespace sotto
