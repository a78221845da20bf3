#pragma once

#include <Eigen/Core>
#include <memory>

#include "sotto/learn/objective.hpp"

namespace sotto {

/// A clip that is learnt: C = C_0 exp(gain x_d), where x_d is one more coordinate of the model.
struct QuantileClip {
    double quantile = 0.9;  ///< p in (0, 1): the part of the gradients that C is to leave as it is
    double share = 0.05;    ///< of the squared sensitivity, in (0, 1): what learning C may spend
    double start = 0.1;     ///< C_0 > 0, which is also the norm that contributions have at most
    double gain = 1;        ///< > 0

    /// Of contributions, where norms are at most `bound`: sqrt(1 - share) bound, of the gradient.
    [[nodiscard]] double gradient_bound(double bound) const;
    /// What one gradient that C leaves as it is adds to the coordinate of x_d: sqrt(share) bound
    /// (1 - p) / max(p, 1 - p).
    [[nodiscard]] double within(double bound) const;
    /// What one that C shortens takes from it: sqrt(share) bound p / max(p, 1 - p).
    [[nodiscard]] double beyond(double bound) const;
    /// C of a model whose last coordinate is this: within 1e-13 and 1e13 times C_0.
    [[nodiscard]] double clip_norm(double coordinate) const;
};

/// The gain with which log C falls by rate (b - p) a round, where a part b of the gradients is no
/// longer than C (Andrew, Thakkar, McMahan, Ramaswamy 2021, Algorithm 1, with log C for C): the
/// trainer moves x_d by step_size / (1 - momentum) of its coordinate.
/// @param clip all but its gain.
[[nodiscard]] double gain_of(const QuantileClip& clip,
                             double rate,
                             double step_size,
                             double momentum);

/// An objective whose clip is learnt with it. A gradient g (a record's, or the mean of a batch with
/// adjacency agent) contributes
///
///     (sqrt(1 - s) C_0 clip(g, C) / C,  sqrt(s) C_0 ([|g| <= C] - p) / max(p, 1 - p)),
///
/// s the share: at most C_0 long for any data and any C, so whatever noise hides contributions of
/// C_0 hides both parts together; mu^2 is split into (1 - s) and s. C is a function of what agents
/// tell each other anyway. C_0 / C belongs to the step size: a round moves models by as much
/// whatever C has become. One record changes a sum of clipped gradients by at most the bound of
/// Objective::clipped_gradient_sum, to the last bit.
/// @param inner dimension d; the result has d + 1, of which d are the model.
/// @throws ConfigError where records are clipped, but not counted (counts_shortened_records).
[[nodiscard]] std::unique_ptr<Objective> make_quantile_clipping(std::unique_ptr<Objective> inner,
                                                                const QuantileClip& clip);

}  // namespace sotto
