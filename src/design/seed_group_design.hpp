#pragma once

#include <Eigen/Dense>
#include <string>
#include <vector>

#include "sotto/design/coalition_solver.hpp"
#include "sotto/design/design.hpp"

namespace sotto {

/// The covariance for the input's seed groups and coalitions, where the smallest kappa is 1. The
/// last solutions of this process are kept: one for 100 agents takes seconds, and trainings of a
/// sweep often share it, since it depends neither on epsilon nor on the clip norm, step size, task
/// or seeds. @throws ConfigError as solve_coalition_covariance.
[[nodiscard]] CoalitionSolution solve_for_seed_groups(const DesignInput& input, GroupNoise shape);

/// Its finished plan.
/// @param factors R_k = F_k F_k^T of every group's noise, members x streams.
[[nodiscard]] Design make_seed_group_design(std::string mechanism,
                                            const DesignInput& input,
                                            const CoalitionSolution& solution,
                                            const std::vector<Eigen::MatrixXd>& factors);

/// The finished plan with the best covariance of every group's members, whatever it looks like.
/// [C] (10). @throws ConfigError as solve_coalition_covariance.
[[nodiscard]] Design design_free_groups(std::string mechanism, const DesignInput& input);

}  // namespace sotto
