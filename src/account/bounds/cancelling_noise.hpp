#pragma once

#include <optional>

#include "account/published_bound.hpp"

namespace sotto {

/// What the bounds of [H] are made of, under its assumptions: one exchange a round with symmetric
/// weights that do not change, a constant step, gradients that are clipped, and noise on messages
/// that cancels in the mean over agents (eq. 19).
struct CancellingNoise {
    double step = 0;               ///< mu
    double gradient_norm = 0;      ///< G, by clipping; regularisation is not among it
    double second_eigenvalue = 0;  ///< lambda_2, below 1
    /// Of all coordinates: max_k sum_{l != k} a_lk E|q_lk|^2 + E|q_kk|^2, which is the paper's
    /// 2 b^2 a (eq. 29) for its own noise (eq. 20), and bounds the noise of a round in a model.
    double noise = 0;
};

/// Nothing for a training that the assumptions do not hold of. Cost O(n^3).
[[nodiscard]] std::optional<CancellingNoise> cancelling_noise(const TrainingBoundInput& input);

}  // namespace sotto
