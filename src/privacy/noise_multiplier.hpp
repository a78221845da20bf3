#pragma once

#include <span>

#include "sotto/privacy/privacy_loss.hpp"

namespace sotto {

/// Rounds whose noise is to be chosen.
struct SampledPhase {
    double sampling_probability = 0;  ///< from 0 to 1
    long count = 0;                   ///< rounds, or epochs
    long rounds_an_epoch = 1;         ///< above 1: random allocation (SampledRounds)
    double relative_noise = 1;        ///< of these rounds, times the noise multiplier
};

/// Smallest common noise multiplier of these rounds (PrivacyLoss::sampled) such that epsilon at
/// delta, with the loss `beside` composed and certified from above, is at most `epsilon`; to a
/// relative 1e-5, rounded up. 0 if no round can reveal anything; otherwise at least 1e-3, even if
/// delta covers the rounds without noise. Cost: about ten epsilons (docs/performance.md).
/// @param epsilon in (0, 1e4].
/// @param delta 1e-30 <= delta < 1.
/// @throws ConfigError outside these ranges; PrivacyError if `beside` alone exceeds epsilon, or no
/// noise multiplier up to 1e9 is enough.
[[nodiscard]] double noise_multiplier_for(double epsilon,
                                          double delta,
                                          std::span<const SampledPhase> phases,
                                          const PrivacyLoss& beside = {});

}  // namespace sotto
