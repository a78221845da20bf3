#pragma once

// Bounds of sampled rounds in closed form, independent of lattices and moments: what every figure
// of theirs is compared with; not installed.

#include <span>

#include "privacy/exact_parts.hpp"
#include "sotto/privacy/certified.hpp"
#include "sotto/privacy/sampled_gaussian.hpp"

namespace sotto {

/// Upper bound of delta(0), the total variation distance of everything: the smaller of
///
///     1 - prod over rounds (1 - q (2 Phi(1/(2 s)) - 1)) prod over exact parts (1 - delta(0)),
///     sqrt(prod over rounds (1 + q^2 (e^(1/s^2) - 1)) - 1) / 2      (without exact parts),
///
/// by maximal couplings of all rounds, and by Cauchy-Schwarz from chi^2. Where it is at most delta,
/// epsilon is 0.
[[nodiscard]] double delta_of_nothing(std::span<const SampledRounds> rounds,
                                      const ExactParts& exact);

/// Lower bound of epsilon at this delta, from tests anybody can make: for every event S,
/// P(S) <= e^epsilon Q(S) + delta. Events, of one kind of rounds each:
///
///     some round above c:       P(S) = 1 - ((1-q) Phi(c) + q Phi(c - 1/s))^T,  Q(S) = 1 - Phi(c)^T
///     the sum of all above c:   P(S) >= P(K >= k) (1 - Phi((c - k/s)/sqrt(T))), K ~ Binomial(T, q)
///
/// With little noise the first attains 1 - (1-q)^T. Exact parts are left out. 0 where no test says
/// anything.
[[nodiscard]] double epsilon_of_tests(std::span<const SampledRounds> rounds, double delta);
/// The same of delta at this epsilon.
[[nodiscard]] double delta_of_tests(std::span<const SampledRounds> rounds, double epsilon);

/// What is known of a figure from two independent ways to it: the smaller upper and the larger
/// lower bound. @throws PrivacyError with all four where a lower bound exceeds an upper one by more
/// than the tolerance of a search, 1e-6 of itself, or is no number: one way is wrong, and nobody
/// knows which.
[[nodiscard]] Certified agreed(const Certified& one, const Certified& other);

}  // namespace sotto
