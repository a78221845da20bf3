#pragma once

#include <span>

#include "sotto/privacy/privacy_loss.hpp"

namespace sotto {

/// Rounds that are still without noise.
struct SampledPhase {
    double sampling_probability = 0;  ///< from 0 to 1
    long count = 0;                   ///< rounds
};

/// Smallest noise multiplier, common to all these rounds (PrivacyLoss::sampled), with which their
/// epsilon at delta, together with what was revealed `beside` them and certified from above, is at
/// most `epsilon`; within 1e-5 of itself, rounded up. 0 where no round can reveal anything; never
/// below 1e-3 otherwise, not even where records are sampled so rarely that delta covers it without
/// noise.
/// @param epsilon above 0, at most 1e4.  @param delta 1e-30 <= delta < 1.
/// @throws ConfigError outside these ranges; PrivacyError where `beside` alone is more, or no noise
/// multiplier up to 1e9 is enough.  Cost: about ten epsilons (docs/performance.md).
[[nodiscard]] double noise_multiplier_for(double epsilon,
                                          double delta,
                                          std::span<const SampledPhase> phases,
                                          const PrivacyLoss& beside = {});

}  // namespace sotto
