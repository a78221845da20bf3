#pragma once

#include <Eigen/Dense>

#include "sotto/plan/noise_plan.hpp"

namespace sotto {

/// Whether rounds are independent and their noise differs: C_time is diagonal, and not the
/// identity.
[[nodiscard]] bool is_diagonal(const TemporalFactor& factor);

/// C_time as a dense lower-triangular matrix of its leading `rounds` rounds.
/// @throws PrivacyError if it covers fewer.
[[nodiscard]] Eigen::MatrixXd dense_factor(const TemporalFactor& factor, long rounds);

/// [C_time^T C_time]_tt of the leading `rounds`. Cost: O(T^2) for a dense factor, O(T B) otherwise.
/// @throws PrivacyError if the factor covers fewer.
[[nodiscard]] Eigen::VectorXd round_precisions(const TemporalFactor& factor, long rounds);

/// max_t [C_time^T C_time]_tt: factor by which the variance of one round's noise shrinks when all
/// other rounds are known, relative to independent rounds. 1 for the identity.
[[nodiscard]] double largest_round_precision(const TemporalFactor& factor);

/// Noise v(t) from fresh noise q(t) and `lags` past values h_1, h_2, ...: v(t) = fresh q(t) + sum_j
/// past_j h_j; the next h_1 is v(t) or q(t).
struct LaggedNoise {
    int lags = 0;
    bool independent_rounds = true;  ///< false: lags 0 stands for a factor handled elsewhere
    bool remembers_noise = false;  ///< h_1 is v(t) (banded C_time); otherwise q(t) (banded inverse)
    Eigen::VectorXd fresh;         ///< one a round
    Eigen::MatrixXd past;          ///< rounds x lags
};

/// The form with fewer lags of the temporal factor; `lags` is -1 unless it has fewer than
/// `most_lags`.
[[nodiscard]] LaggedNoise lagged_noise(const TemporalFactor& factor, long rounds, int most_lags);

}  // namespace sotto
