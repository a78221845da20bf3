#include "sotto/views/view_label.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sotto {

std::string label_of_observers(const std::vector<int>& members) {
    if (members.empty()) return "Whoever sees every message";
    return fmt::format("Agent{} {}", members.size() == 1 ? "" : "s", fmt::join(members, ", "));
}

}  // namespace sotto
