#pragma once

// Tails of the normal distribution, stable however far out.

namespace sotto {

/// 1 - Phi(z).
[[nodiscard]] double normal_above(double z);
/// log(1 - Phi(z)), to 1e-12 of itself; finite for every finite z whose square is.
[[nodiscard]] double log_normal_above(double z);
/// log(Phi(high) - Phi(low)); -infinity unless low < high.
[[nodiscard]] double log_normal_between(double low, double high);
/// The z beyond which N(0, 1) has this mass. @param tail > 0; below 1e-300 as 1e-300.
[[nodiscard]] double normal_tail_point(double tail);

/// Mills ratio m(t) = (1 - Phi(t)) / phi(t).  @param t at least -10.
[[nodiscard]] double mills_ratio(double t);
/// m(t) - m(t + width), to 1e-11 of itself however small the width.  @param width 0 or more.
[[nodiscard]] double mills_difference(double t, double width);

}  // namespace sotto
