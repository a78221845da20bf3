#include "agent/round_faults.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "core/seeded_random.hpp"
#include "sotto/core/names.hpp"

namespace sotto {

bool RoundFaults::is_silent(std::uint64_t seed, long round, int agent) const {
    if (silent == 0) return false;
    const std::uint64_t place =
        (static_cast<std::uint64_t>(round) << 24U) + static_cast<std::uint64_t>(agent);
    return SeededRandom(seed, "silent rounds", place).uniform() < silent;
}

double RoundFaults::times_as_long(int agent) const {
    const auto found = std::ranges::find(slow, agent, &std::pair<int, double>::first);
    return found == slow.end() ? 1 : found->second;
}

const Lie* RoundFaults::lie_of(int agent) const {
    const auto found = std::ranges::find_if(
        lies, [&](const Lie& lie) { return std::ranges::binary_search(lie.agents, agent); });
    return found == lies.end() ? nullptr : &*found;
}

std::vector<int> RoundFaults::liars() const {
    std::vector<int> all;
    for (const Lie& lie : lies) all.insert(all.end(), lie.agents.begin(), lie.agents.end());
    std::ranges::sort(all);
    return all;
}

double usual_strength(LieKind kind) {
    switch (kind) {
        case LieKind::sign_flip:
            return 3;
        case LieKind::noise:
        case LieKind::inner_product:
            return 10;
        default:
            return 1;
    }
}

namespace {

/// @param words lie, KIND, AGENT[+AGENT...] and perhaps STRENGTH.
Lie parse_lie(std::string_view option, const std::vector<std::string_view>& words) {
    Lie lie;
    lie.kind = lie_kinds.parse(option, words[1]);
    lie.strength = usual_strength(lie.kind);
    for (const std::string_view word : split(words[2], '+')) {
        const long long agent = parse_integer(option, word);
        require_in_range(option, static_cast<double>(agent), 0, 1e9);
        lie.agents.push_back(static_cast<int>(agent));
    }
    std::ranges::sort(lie.agents);
    if (words.size() == 4) {
        lie.strength = parse_real(option, words[3]);
        require_in_range(option, lie.strength, 1e-6, 1e9);
    }
    return lie;
}

void require_one_lie_each(std::string_view option, const RoundFaults& faults) {
    const std::vector<int> liars = faults.liars();
    const auto twice = std::ranges::adjacent_find(liars);
    if (twice != liars.end())
        throw ConfigError(
            fmt::format("{}: agent {} lies twice (allowed: one lie an agent)", option, *twice));
}

std::string lie_text(const Lie& lie) {
    const std::string text =
        fmt::format("lie:{}:{}", lie_kinds.name_of(lie.kind), fmt::join(lie.agents, "+"));
    return lie.strength == usual_strength(lie.kind) ? text
                                                    : fmt::format("{}:{}", text, lie.strength);
}

}  // namespace

RoundFaults parse_round_faults(std::string_view option, std::string_view text) {
    RoundFaults faults;
    if (text.empty()) return faults;
    for (const std::string_view part : split(text, ',')) {
        const std::vector<std::string_view> words = split(part, ':');
        if (words.size() == 2 && words[0] == "silent") {
            faults.silent = parse_real(option, words[1]);
            require_in_range(option, faults.silent, 0, 0.999);
        } else if (words.size() == 3 && words[0] == "slow") {
            const long long agent = parse_integer(option, words[1]);
            require_in_range(option, static_cast<double>(agent), 0, 1e9);
            const double factor = parse_real(option, words[2]);
            require_in_range(option, factor, 1, 1e6);
            faults.slow.emplace_back(static_cast<int>(agent), factor);
        } else if ((words.size() == 3 || words.size() == 4) && words[0] == "lie") {
            faults.lies.push_back(parse_lie(option, words));
        } else {
            throw ConfigError(fmt::format(
                "{}: '{}' is not a fault (allowed: silent:PROBABILITY, slow:AGENT:FACTOR and "
                "lie:KIND:AGENT+AGENT, separated by commas)",
                option,
                part));
        }
    }
    require_one_lie_each(option, faults);
    return faults;
}

std::string name_of(const RoundFaults& faults) {
    std::vector<std::string> parts;
    if (faults.silent > 0) parts.push_back(fmt::format("silent:{}", faults.silent));
    for (const auto& [agent, factor] : faults.slow)
        parts.push_back(fmt::format("slow:{}:{}", agent, factor));
    for (const Lie& lie : faults.lies) parts.push_back(lie_text(lie));
    return fmt::format("{}", fmt::join(parts, ","));
}

}  // namespace sotto
