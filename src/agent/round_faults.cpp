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
        } else {
            throw ConfigError(fmt::format(
                "{}: '{}' is not a fault (allowed: silent:PROBABILITY and slow:AGENT:FACTOR, "
                "separated by commas)",
                option,
                part));
        }
    }
    return faults;
}

std::string name_of(const RoundFaults& faults) {
    std::vector<std::string> parts;
    if (faults.silent > 0) parts.push_back(fmt::format("silent:{}", faults.silent));
    for (const auto& [agent, factor] : faults.slow)
        parts.push_back(fmt::format("slow:{}:{}", agent, factor));
    return fmt::format("{}", fmt::join(parts, ","));
}

}  // namespace sotto
