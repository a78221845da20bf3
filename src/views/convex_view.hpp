#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "sotto/views/view_sensitivity.hpp"

namespace sotto {

/// @param option that asks for bounds of convex losses, for the message.
/// @throws ConfigError for anything but one phase of plain gossip with Gaussian noise on gradients,
/// independent between rounds, the same message to all, and rounds that are not sampled in secret.
void require_convex_case(std::string_view option,
                         const MessageProcess& process,
                         const Participation& participation);

/// Squared sensitivities of a training's targets in a partial view, where every loss is convex and
/// beta-smooth and every step is at most 2 / beta, or 2 / (beta + 2 l2) with regularisation, which
/// makes MessageProcess::step_sizes those of a rescaled model (docs/equations.md#convex-trainings):
/// each agent's step is then a non-expansive map, whatever the gradients. Two worlds differ in the
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
/// @throws ConfigError as require_convex_case, and where the noise of all but the observers has no
/// inverse covariance; PrivacyError where the two figures contradict each other.
/// Cost: some hundred passes of T (n^2 + K edges) a target and pattern, and view_sensitivity.
[[nodiscard]] std::vector<SquaredSensitivity> convex_sensitivity(const MessageProcess& process,
                                                                 const View& view,
                                                                 std::span<const int> targets,
                                                                 const Participation& participation,
                                                                 const ViewOptions& options);

}  // namespace sotto
