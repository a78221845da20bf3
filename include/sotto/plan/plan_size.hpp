#pragma once

#include <cstdint>

namespace sotto {

/// Bytes that a file with a plan may have.
inline constexpr std::uint64_t most_plan_bytes = std::uint64_t{1} << 30;

/// Members that all seed groups of a plan may have together: 4 n^2 + 4096 for n agents. All pairs
/// of agents have n^2, all neighbourhoods at most as many; noise of n agents has n^2 covariances.
[[nodiscard]] std::int64_t most_group_members(int agents);

/// Bytes that to_json(NoisePlan) can have at most: of every seed group and stream, every
/// coefficient and every value of the temporal factor, with 24 characters a number.
/// @param agents n.
/// @param coefficients of rows beside those of shared seeds: sum over the agents of the squared
/// size of their closed neighbourhoods, where messages differ by receiver.
/// @param temporal_values of the temporal factor: T^2 where rounds are correlated, else 0.
[[nodiscard]] std::uint64_t largest_plan_bytes(int agents,
                                               double coefficients,
                                               double temporal_values);

}  // namespace sotto
