#pragma once

#include <Eigen/Dense>
#include <Eigen/Sparse>
#include <span>
#include <vector>

#include "sotto/plan/noise_plan.hpp"
#include "sotto/privacy/accountant.hpp"

namespace sotto {

/// [R^-1]_uu of what an observer of all messages sees of each agent where messages of some do not
/// arrive (docs/equations.md 20) [1 / gradient unit^2]: as observed_precision of a round.
struct DropoutPrecision {
    /// Nothing is revealed because of them. Worst: nobody is missing.
    Eigen::VectorXd silent;
    /// Agents that are there publish the noise of the streams they share with missing ones, so that
    /// it can be subtracted: the observer knows what a coalition of the missing would.
    Eigen::VectorXd revealed;
    /// The agent was missing, its streams were published, and then its message is seen after all.
    Eigen::VectorXd late;
};

/// The plan without the messages of these agents; streams, groups and agents stay. Its R is R_SS of
/// those who are there, beside zeros.
[[nodiscard]] NoisePlan without_messages(NoisePlan plan, const std::vector<int>& missing);

/// The plan without the streams whose seed is held both by one of these agents and by one that is
/// none of them: what is not known after those who are there have published what they share with
/// the missing.
[[nodiscard]] NoisePlan without_published(NoisePlan plan, const std::vector<int>& missing);

/// For these missing agents, ascending. `silent` and `revealed` are 0 for them, `late` for all
/// others. Cost O(n^3).
/// @throws ConfigError unless the plan is Gaussian noise on gradients, independent between rounds
/// and mixed by gossip; for agents that do not exist.
[[nodiscard]] DropoutPrecision dropout_precision(const NoisePlan& plan,
                                                 const Observer& observer,
                                                 const std::vector<int>& missing);

/// The largest over all sets of at most `dropouts` other agents, for each agent that does not
/// belong to the observer's coalition. Cost: an observed_precision a set.
/// @throws ConfigError as above, and unless 1 <= dropouts < agents outside the coalition.
[[nodiscard]] DropoutPrecision worst_dropout_precision(const NoisePlan& plan,
                                                       const Observer& observer,
                                                       int dropouts);

/// The same over all coalitions of `coalition_size` agents too.
[[nodiscard]] DropoutPrecision worst_dropout_precision(const NoisePlan& plan,
                                                       int coalition_size,
                                                       int dropouts);

/// Eigenvalues up to this share of the largest count as zero.
inline constexpr double rank_cut_off = 1e-11;
/// Components of a unit vector larger than this lie outside the range of such a matrix.
inline constexpr double outside_range = 1e-9;

/// scale F of what a coalition does not know, agents x streams: streams whose seed a member holds,
/// and the members' own rows, are left out. Rows for single receivers too.
[[nodiscard]] Eigen::SparseMatrix<double> unknown_coefficients(const NoisePlan& plan,
                                                               std::span<const int> coalition);

/// True where the coalition cannot compute stream k.
[[nodiscard]] std::vector<bool> unknown_streams(const NoisePlan& plan,
                                                std::span<const int> coalition);

/// F F^T, dense product where F is nearly full.
[[nodiscard]] Eigen::MatrixXd outer_product(const Eigen::SparseMatrix<double>& coefficients);

/// [(R^(I))^-1]_uu of every agent; see observed_precision. Says nothing about receivers, time or
/// distribution.
[[nodiscard]] Eigen::VectorXd unknown_precision(const NoisePlan& plan,
                                                std::span<const int> coalition);

}  // namespace sotto
