#pragma once

#include <Eigen/Dense>
#include <span>

#include "sotto/graph/mixing.hpp"
#include "sotto/views/view_record.hpp"

namespace sotto {

/// Theorem of [G].
enum class GossipTheorem {
    sums = 3,     ///< neighbours' messages are seen in sums
    messages = 4  ///< neighbours' messages are seen one by one
};

/// Whether the theorems cover this process: one exchange a round on an undirected graph, and
/// nothing else.
[[nodiscard]] bool has_gossip_bound(const MessageProcess& process);

/// The squared sensitivity |B^+ a|^2 of [G] Theorems 3 and 4 for a training, in units of one over
/// the variance of every agent's noise (docs/equations.md#partial-views). For comparison with
/// published figures only: it protects nobody, because the theorems overlook that the gradients of
/// unobserved agents carry a target's data on.
///
/// With models x(t+1) = W_t m(t), m(t) = x(t) + eta_t (g(t) + v(t)), the messages of target j are
/// seen in the sums of its closed neighbourhood (Theorem 3) or themselves (Theorem 4),
///
///     y(t) = x_a(t+1), a = j and those with (W_t)_aj != 0,     or     y(t) = m_j(t),
///
/// y = A g + B v over all rounds; a = sum of A's columns of j (the same contribution in every
/// round); the columns of observers, who know their noise, are left out of B ([G] 3.5). Schedules
/// as in appendix E: products W_t ... W_s instead of powers. Departed agents add nothing. Pure.
/// Cost O(T (n entries of W + n^2 p + p^3)), p the agents of y.
/// @param observers ascending; not the target.
/// @throws ConfigError without has_gossip_bound and for agents that do not exist.
[[nodiscard]] double gossip_bound(GossipTheorem theorem,
                                  const MessageProcess& process,
                                  std::span<const int> observers,
                                  int target);

/// Approximate multiplications of one gossip_bound.
[[nodiscard]] double gossip_bound_work(const MessageProcess& process);

/// Muffliato (Cyffers et al. 2022) with one gossip step, the comparison of [U] 7.1, in squared
/// sensitivity at unit noise:
/// min(T, sum_{s=1..T} sum_{k=0..T-s} sum_{w in N(a)} (W^k)_wu^2 / |(W^k)_w.|^2).
/// Cost O(T edges degree).
/// @return one per target, for one observer.
/// @throws ConfigError for an observer that does not exist or fewer than 1 round.
[[nodiscard]] Eigen::VectorXd muffliato_bound(const Graph& graph,
                                              const MixingMatrix& mixing,
                                              int observer,
                                              long rounds);

}  // namespace sotto
