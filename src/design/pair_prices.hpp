#pragma once

#include <Eigen/Dense>
#include <span>
#include <utility>

#include "design/utility_probes.hpp"

namespace sotto {

/// Private noise and noise of pairs that cancels, against coalitions of q agents.
struct PairProblem {
    std::span<const std::pair<int, int>> pairs;
    const NoiseCosts* costs = nullptr;  ///< of one unit of each
    const Eigen::VectorXd* kappa = nullptr;
    int coalition_size = 1;
    double relative_gap = 0.05;
    double variance_cap = 1e4;
};

struct PairSolution {
    Eigen::VectorXd private_variance, pair_variance;
    double value = 0;        ///< with the costs of the problem
    double lower_bound = 0;  ///< with them
    int passes = 0;
};

/// minimise costs.agents . s2 + costs.pairs . b  s.t.  [(R^(I))^-1]_uu <= kappa_u for all |I| = q
/// and u not in I, by prices: multipliers follow what limits are exceeded by, s2 and b what their
/// gradients earn, -x_v^2 and -(x_i - x_j)^2 of local flows x = (R^(I))^-1 e_u (LocalFlow). An
/// agent whose limit is exceeded then gets what it lacks as private noise of its own, 1 / kappa - 1
/// / [(R^(I))^-1]_uu, which is exact. Nothing has n x n numbers. Cost: a flow for every pair and
/// pass, some ten passes.
[[nodiscard]] PairSolution solve_pair_prices(const PairProblem& problem);

}  // namespace sotto
