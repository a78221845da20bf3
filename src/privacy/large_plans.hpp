#pragma once

#include <Eigen/Dense>
#include <optional>
#include <span>
#include <vector>

#include "privacy/local_precision.hpp"
#include "sotto/plan/noise_plan.hpp"

namespace sotto {

/// Up to so many agents precisions come from matrices of agents x agents; of more agents, if the
/// noise is that of single agents and pairs, from flows near each agent (LocalFlow).
inline constexpr int most_dense_agents = 2000;

/// The noise of a plan, with scale 1, if it is accounted for locally.
[[nodiscard]] std::optional<PairwiseNoise> large_pairwise_noise(const NoisePlan& plan);

/// What bounds are computed to by default: 0.1% up to 5000 agents, 1% above, where flows that reach
/// further take minutes.
[[nodiscard]] LocalFlow::Options local_options(int agents);

/// Largest [(R^(I))^-1]_uu of some agents over all coalitions of `size` others, and coalitions that
/// learn about so much (local_precision), in the order of `agents`. Cost: those of local_precision,
/// on all threads; results do not depend on their number. Without pairs: 1 / s2_u.
[[nodiscard]] std::vector<LocalPrecision> local_precisions(const PairwiseNoise& noise,
                                                           std::span<const int> agents,
                                                           int size,
                                                           const LocalFlow::Options& options);

/// coalition_precision of a plan by upper bounds. Those of recent plans are kept, whatever their
/// scale.
[[nodiscard]] Eigen::VectorXd large_coalition_precision(const NoisePlan& plan,
                                                        const PairwiseNoise& noise,
                                                        int size);

/// observed_precision of a plan by upper bounds.
[[nodiscard]] Eigen::VectorXd large_observed_precision(const NoisePlan& plan,
                                                       const PairwiseNoise& noise,
                                                       std::span<const int> coalition);

}  // namespace sotto
