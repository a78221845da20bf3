#pragma once

#include <Eigen/Dense>

#include "sotto/core/hash.hpp"
#include "sotto/design/design.hpp"

namespace sotto {

/// @throws ConfigError naming the agent whose kappa is not finite and positive.
void require_kappa(const Eigen::VectorXd& kappa);
/// @throws ConfigError unless the cap is above 1: R_uu = 1 / kappa_u must be inside it.
void require_variance_cap(double variance_cap);
/// @throws ConfigError, always: no noise within the cap protects every agent.
[[noreturn]] void throw_cap_too_small(double variance_cap, bool common_variance);
/// @throws ConfigError unless M has a row and a column for every agent.
void require_utility_of(const Eigen::MatrixXd& utility, Eigen::Index agents);

/// Digest of everything a design depends on except what only scales its plan: the smallest kappa
/// and the clip norm. Step sizes count relative to the first. Cost: O(n^2) if M is given, else
/// O(edges + rounds).
[[nodiscard]] Digest design_digest(const DesignInput& input);

}  // namespace sotto
