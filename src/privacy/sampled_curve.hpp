#pragma once

// The privacy curve of sampled rounds with exact parts beside them; not installed.

#include <span>

#include "privacy/exact_parts.hpp"
#include "sotto/privacy/certified.hpp"
#include "sotto/privacy/sampled_gaussian.hpp"

namespace sotto {

/// delta at this epsilon >= 0, of the worse direction. Two independent ways are always taken and
/// compared: bounds that need no lattice (Renyi divergences from above, tests anybody can make from
/// below), and lattices, which are refined until their two bounds are a share `curve_gap` apart, or
/// as far as they go. What is returned is the better one of each; what a way cannot compute counts
/// as delta 1 from above and 0 from below.
/// @param rounds at least one; every count > 0, 0 < q < 1, finite s > 0.
/// @throws PrivacyError where a lower bound exceeds an upper one: an error of the program.
[[nodiscard]] Certified sampled_delta(std::span<const SampledRounds> rounds,
                                      const ExactParts& exact,
                                      double epsilon);
/// Smallest epsilon >= 0 whose delta is at most this, in the same way. 0 at once where
/// delta_of_nothing is at most delta. @param delta 0 < delta < 1. The same answer is kept for the
/// next time it is asked for.
[[nodiscard]] Certified sampled_epsilon(std::span<const SampledRounds> rounds,
                                        const ExactParts& exact,
                                        double delta);
/// The bounds of the same figure that need no lattice. Cost: a few milliseconds.
[[nodiscard]] Certified sampled_epsilon_bracket(std::span<const SampledRounds> rounds,
                                                const ExactParts& exact,
                                                double delta);

/// The relative gap between bounds that is aimed at.
inline constexpr double curve_gap = 5e-4;

}  // namespace sotto
