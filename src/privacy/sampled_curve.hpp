#pragma once

#include <span>

#include "privacy/round_losses.hpp"
#include "sotto/privacy/privacy_loss.hpp"

namespace sotto {

// The privacy curve of sampled rounds with exact parts beside them.

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

// Bounds of sampled rounds in closed form, independent of lattices and moments: what every figure
// of theirs is compared with.

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
