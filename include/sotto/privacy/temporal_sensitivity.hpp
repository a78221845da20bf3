#pragma once

#include <Eigen/Core>

#include "sotto/plan/noise_plan.hpp"
#include "sotto/privacy/exposure.hpp"

namespace sotto {

/// sens2(C_time) = max_{j<b} sum_{s,t in {j, j+b, ...}} |(C_time^T C_time)_st|, leading `rounds`
/// rounds; for the identity ceil(rounds/b). [U] Theorem 8. With Poisson sampling the number of
/// rounds of the longest pattern, times the squared length of the longest column where that
/// exceeds 1 by rounding. @throws ConfigError as require_separate_rounds.
[[nodiscard]] double temporal_sensitivity_squared(const TemporalFactor& factor,
                                                  const Participation& participation,
                                                  long rounds);

/// The same sum of every pattern {j, j + b, ...}, j < min(b, rounds), by itself.
[[nodiscard]] Eigen::VectorXd pattern_sensitivities_squared(const TemporalFactor& factor,
                                                            const Participation& participation,
                                                            long rounds);

/// Secretly sampled rounds are accounted for one by one: no two of one record may share noise, and
/// none may be louder than alone. So columns t and t + b of C_time share no row, and no column is
/// longer than 1; then a record's rounds are seen through rows of their own, each as the sampled
/// Gaussian mechanism of its batch (docs/equations.md 15).
/// @throws ConfigError otherwise, saying which, and what is allowed. Nothing without sampling.
/// Cost: O(T B), O(T^2) for a dense factor.
void require_separate_rounds(const TemporalFactor& factor,
                             const Participation& participation,
                             long rounds);

/// max over patterns and rounds s of sum_{t in the pattern} |(C_time)_st|: how far, at most, unit
/// changes in all rounds of one pattern move what the fresh noise of one round hides. 1 for the
/// identity. Cost: O(T^2) for a dense factor, O(T B), O(T b) with one lag.
[[nodiscard]] double largest_round_shift(const TemporalFactor& factor,
                                         const Participation& participation,
                                         long rounds);

}  // namespace sotto
