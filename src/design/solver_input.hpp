#pragma once

#include <Eigen/Dense>

namespace sotto {

/// @throws ConfigError naming the agent whose kappa is not finite and positive.
void require_kappa(const Eigen::VectorXd& kappa);
/// @throws ConfigError unless the cap is above 1: R_uu = 1 / kappa_u must be inside it.
void require_variance_cap(double variance_cap);
/// @throws ConfigError, always: no noise within the cap protects every agent.
[[noreturn]] void throw_cap_too_small(double variance_cap, bool common_variance);
/// @throws ConfigError unless M has a row and a column for every agent.
void require_utility_of(const Eigen::MatrixXd& utility, Eigen::Index agents);

}  // namespace sotto
