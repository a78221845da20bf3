#include "agent/robust_rule.hpp"

#include <fmt/format.h>

#include <vector>

#include "sotto/core/names.hpp"

namespace sotto {

RobustRule parse_robust_rule(std::string_view option, std::string_view text) {
    using Kind = RobustRule::Kind;
    const std::vector<std::string_view> words = split(text, ':');
    if (text == "off") return {};
    if (text == "clip" || text == "clip:auto") return {Kind::clip, std::nullopt, 0};
    if (words.size() == 2 && words[0] == "clip") {
        const double limit = parse_real(option, words[1]);
        require_positive(option, limit);
        return {Kind::clip, limit, 0};
    }
    if (words.size() == 2 && words[0] == "trimmed") {
        const long long number = parse_integer(option, words[1]);
        require_in_range(option, static_cast<double>(number), 1, 1e6);
        return {Kind::trimmed, std::nullopt, static_cast<int>(number)};
    }
    throw ConfigError(fmt::format(
        "{}: '{}' is no rule for messages (allowed: off, clip, clip:TAU with a norm above 0, "
        "trimmed:F with a number of agents from 1)",
        option,
        text));
}

std::string name_of(const RobustRule& rule) {
    if (rule.kind == RobustRule::Kind::off) return "off";
    if (rule.kind == RobustRule::Kind::trimmed) return fmt::format("trimmed:{}", rule.trimmed);
    return rule.limit ? fmt::format("clip:{}", *rule.limit) : "clip";
}

}  // namespace sotto
