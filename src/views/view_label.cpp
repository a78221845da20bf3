#include "sotto/views/view_label.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sotto {

std::string label_of_agent(const Graph& graph, int agent) {
    const std::string number = std::to_string(agent);
    const std::string& label = graph.label(agent);
    return label == number ? number : fmt::format("{} ({})", number, label);
}

std::string label_of_observers(const std::vector<int>& members) {
    if (members.empty()) return "Whoever sees every message";
    return fmt::format("Agent{} {}", members.size() == 1 ? "" : "s", fmt::join(members, ", "));
}

}  // namespace sotto
