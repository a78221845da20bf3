#pragma once

#include <Eigen/Dense>
#include <span>
#include <string>
#include <vector>

#include "sotto/plan/noise_plan.hpp"

namespace sotto {

/// A plan of private noise and noise of seed groups: stream u is agent u's own; then the streams of
/// every group whose factor is not empty.
/// @param private_variance s2_u.  @param factors R_k = F_k F_k^T, members x streams of the group.
[[nodiscard]] NoisePlan make_group_plan(std::string mechanism,
                                        const Eigen::VectorXd& private_variance,
                                        std::span<const SeedGroup> groups,
                                        const std::vector<Eigen::MatrixXd>& factors);

/// R = L L^T from n streams that derive from one seed held by all agents. @param lower L.
[[nodiscard]] NoisePlan one_seed_plan(std::string mechanism,
                                      const Eigen::MatrixXd& lower,
                                      double scale);

/// F with F F^T = block, as few columns as leave out no more than `negligible` on the diagonal.
[[nodiscard]] Eigen::MatrixXd block_factor(const Eigen::MatrixXd& block, double negligible);

/// sqrt(c) (1, -1)^T for c (e_u - e_v)(e_u - e_v)^T: exact opposites, so that it cancels.
[[nodiscard]] Eigen::MatrixXd difference_factor(double variance);

}  // namespace sotto
