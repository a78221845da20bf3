#pragma once

#include <Eigen/Dense>
#include <optional>
#include <span>

#include "account/published_bound.hpp"
#include "sotto/views/gossip_bounds.hpp"

namespace sotto {

/// Variance of every agent's noise where published bounds of gossip speak of a plan: every agent
/// adds private Gaussian noise of one variance to its gradient, independent from round to round,
/// and contributes to every round for certain. Nothing otherwise.
[[nodiscard]] std::optional<double> equal_noise_variance(const PlanConfig& config,
                                                         const NoisePlan& plan);

/// Squared sensitivities by [G] Theorem 3 or 4 at the noise of the plan; nothing for other plans
/// and processes, views without members or of another kind than `seen`, and where all observers
/// together would take longer than some seconds.
[[nodiscard]] std::optional<Eigen::VectorXd> gossip_bounds_of(GossipTheorem theorem,
                                                              View::Kind seen,
                                                              const ViewBoundInput& input,
                                                              const View& view,
                                                              std::span<const int> targets);

}  // namespace sotto
