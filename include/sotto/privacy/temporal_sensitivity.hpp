#pragma once

#include <Eigen/Core>

#include "sotto/plan/noise_plan.hpp"
#include "sotto/privacy/exposure.hpp"

namespace sotto {

/// sens2(C_time) = max_{j<b} sum_{s,t in {j, j+b, ...}} |(C_time^T C_time)_st|, leading `rounds`
/// rounds; for the identity ceil(rounds/b). [U] Theorem 8.
[[nodiscard]] double temporal_sensitivity_squared(const TemporalFactor& factor,
                                                  const Participation& participation,
                                                  long rounds);

/// The same sum of every pattern {j, j + b, ...}, j < min(b, rounds), by itself.
[[nodiscard]] Eigen::VectorXd pattern_sensitivities_squared(const TemporalFactor& factor,
                                                            const Participation& participation,
                                                            long rounds);

/// max over patterns and rounds s of sum_{t in the pattern} |(C_time)_st|: how far, at most, unit
/// changes in all rounds of one pattern move what the fresh noise of one round hides. 1 for the
/// identity. Cost: O(T^2) for a dense factor, O(T B), O(T b) with one lag.
[[nodiscard]] double largest_round_shift(const TemporalFactor& factor,
                                         const Participation& participation,
                                         long rounds);

}  // namespace sotto
