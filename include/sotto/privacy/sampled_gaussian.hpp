#pragma once

#include <span>
#include <vector>

namespace sotto {

/// Rounds in each of which a record takes part with a probability, decided by a secret coin, and
/// what is released has Gaussian noise: Poisson-subsampled Gaussian mechanisms. For neighbours that
/// differ by one record present or absent (added, removed, or zeroed out), one round is as hard to
/// tell as
///
///     Q = N(0, s^2)  from  P = (1 - q) N(0, s^2) + q N(1, s^2)         (docs/equations.md 15),
///
/// and its privacy loss is at most that of both directions, (P, Q) and (Q, P). Dominating pairs
/// compose adaptively, direction by direction (Zhu, Dong, Wang 2022, Theorem 10).
struct SampledRounds {
    /// s: standard deviation of the noise, in units of a record's largest contribution. > 0.
    double noise_multiplier = 0;
    double sampling_probability = 0;  ///< q, from 0 to 1; 1: always there, a Gaussian of mu 1/s
    long count = 0;                   ///< rounds, 0 or more

    [[nodiscard]] bool operator==(const SampledRounds&) const = default;
};

/// Most rounds that are accounted together.
inline constexpr long most_sampled_rounds = 1'000'000'000;

/// The same rounds with one entry for every noise multiplier and probability, in ascending order,
/// and without those that reveal nothing (no round, or probability 0).
/// @throws PrivacyError unless noise multipliers are above 0 (infinite: nothing is revealed),
/// probabilities from 0 to 1, counts from 0 to most_sampled_rounds in all; a NaN fails.
[[nodiscard]] std::vector<SampledRounds> merged_rounds(std::span<const SampledRounds> rounds);

}  // namespace sotto
