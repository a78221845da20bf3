#pragma once

#include <Eigen/Dense>
#include <Eigen/Sparse>
#include <span>
#include <vector>

#include "sotto/plan/noise_plan.hpp"
#include "sotto/privacy/accountant.hpp"

namespace sotto {

/// [R^-1]_uu of every agent for an observer of all messages, if messages of some agents do not
/// arrive (docs/equations.md#rounds-that-agents-miss) [1 / gradient unit^2]: as observed_precision
/// of a round.
struct DropoutPrecision {
    /// Nothing is published because agents are missing. Worst case: nobody is missing.
    Eigen::VectorXd silent;
    /// Present agents publish the noise of the streams they share with missing ones, so that it can
    /// be subtracted: the observer knows what a coalition of the missing agents would.
    Eigen::VectorXd revealed;
    /// The agent was missing, its streams were published, and then its message is seen after all.
    Eigen::VectorXd late;
};

/// The plan without the messages of these agents; streams, groups and agents stay. Its R is R_SS of
/// the present agents, padded with zeros.
[[nodiscard]] NoisePlan without_messages(NoisePlan plan, const std::vector<int>& missing);

/// The plan without the streams whose seed is held by a missing agent and a present one: the noise
/// that stays unknown after the present agents have published it.
[[nodiscard]] NoisePlan without_published(NoisePlan plan, const std::vector<int>& missing);

/// Precisions with these agents missing (ascending). `silent` and `revealed` are 0 for them, `late`
/// for all others. Cost O(n^3).
/// @throws ConfigError unless the plan is Gaussian noise on gradients, independent between rounds
/// and mixed by gossip; for agents that do not exist.
[[nodiscard]] DropoutPrecision dropout_precision(const NoisePlan& plan,
                                                 const Observer& observer,
                                                 const std::vector<int>& missing);

/// The largest over all sets of at most `dropouts` other agents, for each agent outside the
/// observer's coalition. Cost: an observed_precision a set.
/// @throws ConfigError as above, and unless 1 <= dropouts < agents outside the coalition.
[[nodiscard]] DropoutPrecision worst_dropout_precision(const NoisePlan& plan,
                                                       const Observer& observer,
                                                       int dropouts);

/// The largest also over all coalitions of `coalition_size` agents.
[[nodiscard]] DropoutPrecision worst_dropout_precision(const NoisePlan& plan,
                                                       int coalition_size,
                                                       int dropouts);

/// Eigenvalues up to this fraction of the largest count as zero.
inline constexpr double rank_cut_off = 1e-11;
/// A unit vector with a component above this in the null space lies outside the range.
inline constexpr double outside_range = 1e-9;

/// scale F of what a coalition does not know, agents x streams, including rows for single
/// receivers: without streams whose seed a member holds, and without the members' rows.
[[nodiscard]] Eigen::SparseMatrix<double> unknown_coefficients(const NoisePlan& plan,
                                                               std::span<const int> coalition);

/// True for streams that the coalition cannot compute.
[[nodiscard]] std::vector<bool> unknown_streams(const NoisePlan& plan,
                                                std::span<const int> coalition);

/// F F^T, by a dense product if F is nearly full.
[[nodiscard]] Eigen::MatrixXd outer_product(const Eigen::SparseMatrix<double>& coefficients);

/// [(R^(I))^-1]_uu of every agent; see observed_precision. Ignores receivers, time and
/// distribution.
[[nodiscard]] Eigen::VectorXd unknown_precision(const NoisePlan& plan,
                                                std::span<const int> coalition);

/// Agents up to which the noise of plans whose streams all belong to one agent goes through dense
/// matrices; above them R is taken as the diagonal that it is.
inline constexpr int most_dense_private = 1000;

/// Whether no two agents hold a common seed.
[[nodiscard]] bool noise_is_private(const NoisePlan& plan);

}  // namespace sotto
