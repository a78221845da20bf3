#pragma once

// Tails of the normal distribution, numerically stable far out.

namespace sotto {

/// 1 - Phi(z).
[[nodiscard]] double normal_above(double z);
/// log(1 - Phi(z)), to a relative 1e-12; finite for every finite z whose square is.
[[nodiscard]] double log_normal_above(double z);
/// log(Phi(high) - Phi(low)); -infinity unless low < high.
[[nodiscard]] double log_normal_between(double low, double high);
/// The z with 1 - Phi(z) = tail.
/// @param tail > 0; below 1e-300 as 1e-300.
[[nodiscard]] double normal_tail_point(double tail);

/// Mills ratio m(t) = (1 - Phi(t)) / phi(t).  @param t at least -10.
[[nodiscard]] double mills_ratio(double t);
/// m(t) - m(t + width), to a relative 1e-11 for every width >= 0.
[[nodiscard]] double mills_difference(double t, double width);

}  // namespace sotto
