#pragma once

// The privacy curve of sampled rounds with exact parts beside them; not installed.

#include <span>

#include "privacy/exact_parts.hpp"
#include "sotto/privacy/certified.hpp"
#include "sotto/privacy/sampled_gaussian.hpp"

namespace sotto {

/// delta at this epsilon >= 0, of the worse direction. Lattices are refined until its two bounds
/// are a share `curve_gap` apart, or as far as they go.
/// @param rounds at least one; every count > 0, 0 < q < 1, finite s > 0.
[[nodiscard]] Certified sampled_delta(std::span<const SampledRounds> rounds,
                                      const ExactParts& exact,
                                      double epsilon);
/// Smallest epsilon >= 0 whose delta is at most this. @param delta 0 < delta < 1. The same answer
/// is kept for the next time it is asked for.
[[nodiscard]] Certified sampled_epsilon(std::span<const SampledRounds> rounds,
                                        const ExactParts& exact,
                                        double delta);

/// The relative gap between bounds that is aimed at.
inline constexpr double curve_gap = 5e-4;

}  // namespace sotto
