#pragma once

#include <Eigen/Core>
#include <memory>

#include "sotto/learn/objective.hpp"

namespace sotto {

/// A learnt clip: C = C_0 exp(gain x_d), where x_d is one more coordinate of the model.
struct QuantileClip {
    double quantile = 0.9;  ///< p in (0, 1): share of the gradients that C should leave unclipped
    double share = 0.05;    ///< in (0, 1): share of the squared sensitivity spent on learning C
    double start = 0.1;     ///< C_0 > 0, also the maximum norm of contributions
    double gain = 1;        ///< > 0

    /// Largest norm of the gradient's part if contributions have at most norm `bound`: sqrt(1 -
    /// share) bound.
    [[nodiscard]] double gradient_bound(double bound) const;
    /// What an unclipped gradient adds to the coordinate of x_d: sqrt(share) bound (1 - p) / max(p,
    /// 1 - p).
    [[nodiscard]] double within(double bound) const;
    /// What a clipped gradient subtracts from it: sqrt(share) bound p / max(p, 1 - p).
    [[nodiscard]] double beyond(double bound) const;
    /// C for this last coordinate, limited to 1e-13 to 1e13 times C_0.
    [[nodiscard]] double clip_norm(double coordinate) const;
};

/// The gain with which log C falls by rate (b - p) a round, b the share of unclipped gradients
/// (Andrew, Thakkar, McMahan, Ramaswamy 2021, Algorithm 1, with log C for C): the trainer moves x_d
/// by step_size / (1 - momentum) of its coordinate.
/// @param clip its gain is ignored.
[[nodiscard]] double gain_of(const QuantileClip& clip,
                             double rate,
                             double step_size,
                             double momentum);

/// An objective that learns its clip. A gradient g (a record's, or the mean of a batch with
/// adjacency agent) contributes
///
///     (sqrt(1 - s) C_0 clip(g, C) / C,  sqrt(s) C_0 ([|g| <= C] - p) / max(p, 1 - p)),
///
/// s the share: its norm is at most C_0 for any data and C, so noise for contributions of C_0 hides
/// both parts together; mu^2 is split into (1 - s) and s. C depends only on what agents exchange
/// anyway. The factor C_0 / C makes the size of a step independent of C. One record changes a sum
/// of clipped gradients by at most the bound of Objective::clipped_gradient_sum, to the last bit.
/// @param inner dimension d; the result has d + 1, of which d are the model.
/// @throws ConfigError if records are clipped but not counted (counts_shortened_records).
[[nodiscard]] std::unique_ptr<Objective> make_quantile_clipping(std::unique_ptr<Objective> inner,
                                                                const QuantileClip& clip);

}  // namespace sotto
