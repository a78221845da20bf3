#include "config/config.hpp"

#include <algorithm>

#include "sotto/graph/mixing_file.hpp"

namespace sotto {

namespace {

constexpr const char* optimised = "optimised";

}  // namespace

std::vector<std::string> mixing_rule_names() {
    std::vector<std::string> names = mixing_names();
    names.emplace_back(optimised);
    return names;
}

bool is_mixing_rule(const std::string& name) {
    const auto names = mixing_rule_names();
    return std::ranges::find(names, name) != names.end();
}

bool is_optimised(const GraphConfig& config) { return config.mixing == optimised; }

}  // namespace sotto
