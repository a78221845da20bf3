#pragma once

#include <Eigen/Dense>

#include "sotto/graph/mixing.hpp"

namespace sotto {

/// Muffliato (Cyffers et al. 2022) with one gossip step, with which [U] 7.1 compares, in squared
/// sensitivity at unit noise:
/// min(T, sum_{s=1..T} sum_{k=0..T-s} sum_{w in N(a)} (W^k)_wu^2 / |(W^k)_w.|^2).
/// @return one per target, for one observer.  Cost O(T edges degree).
/// @throws ConfigError for an observer that does not exist or fewer than 1 round.
[[nodiscard]] Eigen::VectorXd muffliato_bound(const Graph& graph,
                                              const MixingMatrix& mixing,
                                              int observer,
                                              long rounds);

}  // namespace sotto
