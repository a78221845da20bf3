#pragma once

#include <Eigen/Dense>
#include <string>

#include "sotto/design/smoothing.hpp"
#include "sotto/graph/gossip.hpp"
#include "sotto/graph/mixing.hpp"

namespace sotto {

/// Which of the noise that mixing leaves behind a plan minimises: Tr(M R) with
/// M = sum_{k>=1} w_k (W^k)^T D^-2 W^k, D = I but with push-sum (estimate_factors).
struct Utility {
    enum class Kind {
        one_step,    ///< w_1 = 1: the noise after one mixing ([W] eq. 10a)
        horizon,     ///< w_k = 1 for k <= H
        trajectory,  ///< w_k = T - k + 1: all models of all rounds ([U] eq. 9)
        final_model  ///< w_k = 1 for k <= T: the last models
    };
    Kind kind = Kind::horizon;
    long horizon = 200;  ///< H, for Kind::horizon; >= 1
};

/// "one-step", "horizon:H", "trajectory", "final". @throws ConfigError.
[[nodiscard]] Utility parse_utility(std::string_view option, std::string_view text);
[[nodiscard]] std::string name_of(const Utility& utility);

/// M, n x n, symmetric, positive semidefinite: M = sum_a w_a g_a(W)^T D^-2 g_a(W), with g_a(W) what
/// noise of one round has become a rounds later in what agents end up with. Without smoothing it is
/// P_K(W)^a; with momentum, means of models and final gossip docs/equations.md 16. Means and final
/// gossip count for `final` alone: it is about what agents end up with, the others about the models
/// that gradients are taken at, for which noise that a mean takes away later is noise
/// (docs/decisions/free-utility.md).
/// Cost: one eigendecomposition and O(n length) for symmetric W; O(n^3 log(length)) otherwise, or
/// O(n^3 length) with momentum or a mean.
/// @param rounds T >= 1.
[[nodiscard]] Eigen::MatrixXd utility_matrix(const MixingMatrix& mixing,
                                             const Utility& utility,
                                             long rounds,
                                             const GossipPolynomial& gossip = 1,
                                             const Smoothing& smoothing = {});

/// The same for mixing that changes: M = mean over rounds s of sum_k w_k P^T P with the products P
/// = D^-1 W_{s+k-1} ... W_s ([U] A.7; D holds push-sum's w after round s+k-1, else I), over all s
/// of one period, at most 20 of them, evenly spaced. Cost: O(20 n^3 K length).
[[nodiscard]] Eigen::MatrixXd utility_matrix(const MixingSchedule& schedule,
                                             const Utility& utility,
                                             long rounds,
                                             int gossip_steps = 1);

}  // namespace sotto
