#pragma once

#include <span>
#include <vector>

#include "sotto/views/view_sensitivity.hpp"

namespace sotto {

/// Squared sensitivities of a training's targets in a partial view, where every loss is convex and
/// beta-smooth and every step is at most 2 / beta (docs/equations.md#convex-trainings): each
/// agent's step is then a non-expansive map, whatever the gradients. Two worlds differ in the
/// target's gradients by at most 1 a participation. Noise is shifted, after what was sent, so that
/// the observer sees the same in both; shifts a_v(t) from the bounds
///
///     r_v(t) = rho_v(t) + eta_t [v = target],  a = k r,  rho(t+1) = |W|^K (r - a),
///
/// of how far apart models are, k in [0, 1], and 1 where the observer, or who it hears within K
/// exchanges, would see a difference. The result is sum_t (a_t / eta_t)^T |(R^(I))^-1| (a_t /
/// eta_t) for the best k that is found; any k is a bound. It is compared with the sensitivity of
/// losses without curvature, which it cannot be below. A view of secure sums gets the figure of the
/// messages that they are sums of.
/// @throws ConfigError for anything but one phase of plain gossip with Gaussian noise on gradients,
/// independent between rounds, the same message to all, and rounds that are not sampled in secret;
/// PrivacyError where the two figures contradict each other.
/// Cost: some hundred passes of T (n^2 + K edges) a target and pattern, and view_sensitivity.
[[nodiscard]] std::vector<SquaredSensitivity> convex_sensitivity(const MessageProcess& process,
                                                                 const View& view,
                                                                 std::span<const int> targets,
                                                                 const Participation& participation,
                                                                 const ViewOptions& options);

}  // namespace sotto
