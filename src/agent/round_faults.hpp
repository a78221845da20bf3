#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sotto {

/// What agents do wrong in an experiment (--faults): they are silent in some rounds, or slow.
struct RoundFaults {
    double silent = 0;  ///< probability with which an agent leaves out its message
    /// Agents whose gradients take so many times as long.
    std::vector<std::pair<int, double>> slow;
    [[nodiscard]] bool none() const { return silent == 0 && slow.empty(); }
    [[nodiscard]] bool operator==(const RoundFaults&) const = default;

    /// Whether the agent sends nothing in this round: independent over agents and rounds, and the
    /// same on every process. @param seed of the run.
    [[nodiscard]] bool is_silent(std::uint64_t seed, long round, int agent) const;
    /// 1 for an agent that is not slow.
    [[nodiscard]] double times_as_long(int agent) const;
};

/// Inverse of name_of. @param text silent:P and slow:AGENT:FACTOR, separated by commas; empty:
/// none.
/// @throws ConfigError for other text, P outside [0, 1), an agent below 0, or a factor below 1.
[[nodiscard]] RoundFaults parse_round_faults(std::string_view option, std::string_view text);
[[nodiscard]] std::string name_of(const RoundFaults& faults);

}  // namespace sotto
