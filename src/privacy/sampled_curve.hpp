#pragma once

#include <span>

#include "privacy/round_losses.hpp"
#include "sotto/privacy/privacy_loss.hpp"

namespace sotto {

// The privacy curve of sampled rounds composed with exact parts.

/// delta at this epsilon >= 0, of the worse direction. Two independent methods are compared: bounds
/// without a lattice (Renyi divergences from above, explicit tests from below), and lattices,
/// refined until their bounds are a relative `curve_gap` apart or no further refinement is
/// possible. The better of each bound is returned; a method that fails counts as delta 1 from above
/// and 0 from below.
/// @param rounds at least one; every count > 0, 0 < q < 1, finite s > 0.
/// @throws PrivacyError if a lower bound exceeds an upper one: a bug.
[[nodiscard]] Certified sampled_delta(std::span<const SampledRounds> rounds,
                                      const ExactParts& exact,
                                      double epsilon);
/// Smallest epsilon >= 0 whose delta is at most this, by the same methods; 0 at once if
/// delta_of_nothing is at most delta. Answers are cached.
/// @param delta 0 < delta < 1.
[[nodiscard]] Certified sampled_epsilon(std::span<const SampledRounds> rounds,
                                        const ExactParts& exact,
                                        double delta);
/// Bounds on the same figure without a lattice. Cost: a few milliseconds.
[[nodiscard]] Certified sampled_epsilon_bracket(std::span<const SampledRounds> rounds,
                                                const ExactParts& exact,
                                                double delta);

/// Target of the relative gap between bounds.
inline constexpr double curve_gap = 5e-4;

// Closed-form bounds for sampled rounds, independent of lattices and moments, against which every
// figure is checked.

/// Upper bound on delta(0), the total variation distance: the smaller of
///
///     1 - prod over rounds (1 - q (2 Phi(1/(2 s)) - 1)) prod over exact parts (1 - delta(0)),
///     sqrt(prod over rounds (1 + q^2 (e^(1/s^2) - 1)) - 1) / 2      (without exact parts),
///
/// with 1 and q in place of q and q^2 for epochs of random allocation, by maximal couplings of all
/// rounds (in an epoch of a single one, by convexity), and by Cauchy-Schwarz from chi^2. Epsilon is
/// 0 if it is at most delta.
[[nodiscard]] double delta_of_nothing(std::span<const SampledRounds> rounds,
                                      const ExactParts& exact);

/// Lower bound on epsilon at this delta from explicit tests: for every event S, P(S) <= e^epsilon
/// Q(S) + delta. Events, of one kind of rounds each:
///
///     some round above c:       P(S) = 1 - ((1-q) Phi(c) + q Phi(c - 1/s))^T,  Q(S) = 1 - Phi(c)^T
///     the sum of all above c:   P(S) >= P(K >= k) (1 - Phi((c - k/s)/sqrt(T))), K ~ Binomial(T, q)
///
/// In E epochs of t rounds K = E and the first has P(S) = 1 - (Phi(c)^(t-1) Phi(c - 1/s))^E.
/// With little noise the first attains 1 - (1-q)^T. Exact parts are left out. 0 if no test shows
/// more.
[[nodiscard]] double epsilon_of_tests(std::span<const SampledRounds> rounds, double delta);
/// The same for delta at this epsilon.
[[nodiscard]] double delta_of_tests(std::span<const SampledRounds> rounds, double epsilon);

/// The smaller upper and the larger lower bound of two independent computations.
/// @throws PrivacyError with all four if a lower bound exceeds an upper one by more than a relative
/// 1e-6 (the tolerance of a search) or is NaN: one of them is wrong.
[[nodiscard]] Certified agreed(const Certified& one, const Certified& other);

}  // namespace sotto
