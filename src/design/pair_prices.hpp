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
    double variance_cap = 1e4;
};

struct PairSolution {
    Eigen::VectorXd private_variance, pair_variance;
    double value = 0;        ///< with the costs of the problem
    double lower_bound = 0;  ///< with them
    int passes = 0;
};

/// Scales noise whose largest precisions are known and adds private noise 1 / kappa_u - 1 /
/// precision where a limit is still exceeded, as costs least: noise of an agent's own lowers
/// nobody's protection, and its own precision to exactly 1 / (1 / precision + noise).
/// @param reached upper bounds on the precisions.   @return the cost.
double keep_limits(const Eigen::VectorXd& reached,
                   const PairProblem& problem,
                   Eigen::VectorXd& private_variance,
                   Eigen::VectorXd& pair_variance);

/// minimise costs.agents . s2 + costs.pairs . b  s.t.  [(R^(I))^-1]_uu <= kappa_u for all |I| = q
/// and u not in I, by prices: multipliers follow what limits are exceeded by, s2 and b what their
/// gradients earn, -x_v^2 and -(x_i - x_j)^2 of local flows x = (R^(I))^-1 e_u (LocalFlow). An
/// agent whose limit is exceeded then gets what it lacks (keep_limits). Of larger coalitions only
/// those of one agent are considered: their plans need keep_limits, and the bound holds. Nothing
/// has n x n numbers. Cost: some flows for every agent and pass, some ten passes.
[[nodiscard]] PairSolution solve_pair_prices(const PairProblem& problem);

}  // namespace sotto
