#pragma once

#include <Eigen/Dense>
#include <span>
#include <string>
#include <vector>

#include "sotto/plan/noise_plan.hpp"

namespace sotto {

/// What the noise of one seed group may look like across its members.
enum class GroupNoise {
    difference,  ///< of two members: c (e_u - e_v)(e_u - e_v)^T, c >= 0, which cancels in the mean
    free         ///< any positive semidefinite block
};

struct CoalitionOptions {
    int coalition_size = 1;        ///< q: agents that may collude, 0 <= q < n
    bool common_variance = false;  ///< one private variance for all agents
    /// Stop when (value - lower_bound) <= relative_gap * value. At 0.001 and more Newton's method
    /// is used only where it takes less than a second, and then to 1e-5.
    double relative_gap = 1e-5;
    double variance_cap = 1e4;  ///< R_uu <= variance_cap / kappa_u; > 1
    int max_iterations = 400;   ///< Newton steps
    /// What else a user can choose where the problem is too large, ", or ...": ends the message.
    std::string instead = {};
};

struct CoalitionSolution {
    Eigen::VectorXd private_variance;               ///< s2_u, n, > 0
    std::vector<Eigen::MatrixXd> group_covariance;  ///< R_k, members x members, PSD; may be 0
    double value = 0;                               ///< Tr(M R)
    double lower_bound = 0;  ///< certified, over all plans of this shape within the variance cap
    int iterations = 0;      ///< Newton steps
    long coalitions = 0;     ///< that took part in the optimisation; all are checked at the end
    bool capped = false;     ///< the variance cap binds
    [[nodiscard]] double relative_gap() const {
        return value > 0 ? (value - lower_bound) / value : 0;
    }
};

/// Private noise and noise of seed groups that leave the least after mixing, while no coalition of
/// q agents learns too much. [C] section V-D, docs/equations.md 5.
///
/// A coalition I knows every seed of a group that meets I, and its members' own noise. Unknown to
/// it is R^(I) = diag(s2_u) + sum over groups H_k disjoint from I of R_k, and
///
///     minimise Tr(M R)  s.t.  [(R^(I))^-1]_uu <= kappa_u  for every |I| = q and u not in I.
///
/// Small problems by Newton's method on a logarithmic barrier, others by prices and weights (plans
/// of thousands of agents with sparse groups; noise/coalition_weights.hpp). With x = (R^(I))^-1 e_u
/// the constraint's derivative by a variance along b is -(b^T x)^2. Certificate: for multipliers
/// lambda >= 0 of the constraints and nu >= 0 of the cap, P = sum lambda_Iu [(R^(I))^-1]_uu is
/// convex and homogeneous of degree -1, hence any R costs at least P^2 / (a^2 sum kappa lambda) -
/// sum nu cap/kappa, where a^2 is the smallest number with -grad P <= a^2 (M + diag(nu)) on every
/// block. Coalitions are added when they are violated, if there are many.
///
/// @param utility  M, n x n, symmetric, PSD.       @param kappa  n, > 0, [1 / gradient-unit^2].
/// @param groups   seed groups of at least two members; exactly two with GroupNoise::difference.
/// @return feasible for every coalition of size q; read `lower_bound` for how good. Pure.
///         Cost: with N unknowns and m constraints O(m N^2 + N^3) a Newton step, 30 to 60 steps;
///         by weights n^3 + sum over coalitions of n |S_I|^2 (S_I: agents that share seeds with it)
///         an iteration, 50 to 500 of them, and n^2 numbers of memory.
/// @throws ConfigError for kappa, coalition size, groups or cap out of range, a million coalitions
///         and more; where a gap below 0.001 is asked for also for more than 6000 unknowns or
///         2.4 GB.
[[nodiscard]] CoalitionSolution solve_coalition_covariance(const Eigen::MatrixXd& utility,
                                                           const Eigen::VectorXd& kappa,
                                                           std::span<const SeedGroup> groups,
                                                           GroupNoise shape,
                                                           const CoalitionOptions& options = {});

}  // namespace sotto
