#pragma once

#include "sotto/plan/noise_plan.hpp"

namespace sotto {

/// What the tails of drawn noise cost. Drawn normals follow the normal distribution up to
/// tail_radius only; what lies beyond can tell neighbouring data apart, with a probability that
/// has to be counted in delta (docs/decisions/grid.md).
///
/// Let `shift` bound how far neighbouring data move what one round's noise hides, in units of that
/// noise: Delta_u sqrt(precision_u) largest_round_shift (L1 and scales under Laplace noise). Let a
/// pair be bad if its radius, or that of the pair moved by the shift, exceeds R = tail_radius.
/// Outcomes of which less than half the probability under the neighbour comes from bad pairs lose
/// at most twice that share, all others count in full, so bad pairs add to delta at most
/// P(bad) + 2 P(bad after the shift), and
///
///     normal value:   5 exp(-(R - shift)^2 / 2),     1 where shift >= R,
///     Laplace value:  20 exp(shift - R^2 / 2),       of four normals,
///
/// where 5 and 4 * 5 rather than 3 make up for the width of a grid step and for 2^-44.
/// @param shift at least 0.  @return of one value of noise, one round; at most 1.
[[nodiscard]] double tail_delta(StreamDistribution noise, double shift);

/// Of delta: what tails may take. Less moves epsilon by less than 1e-9 of it, which the
/// verification of a plan forgives.
inline constexpr double largest_tail_share = 0x1p-40;
/// The same where delta is 0, because epsilon is pure but for the tails.
inline constexpr double largest_tail_of_pure = 0x1p-60;

/// Of a run.
struct Tails {
    double values = 0;  ///< of noise drawn: dimension * streams * rounds; 0 where unknown
    double delta = 0;   ///< that they add; at most 1
    double most = 0;    ///< allowed
    [[nodiscard]] bool allowed() const { return delta <= most; }
};

/// @throws PrivacyError with values, delta and what is allowed if tails take too much of `delta`.
void require_small_tails(const Tails& tails, double delta);

}  // namespace sotto
