#pragma once

#include <Eigen/Dense>
#include <span>

#include "sotto/plan/lagged_noise.hpp"

namespace sotto {

// What noise v(t) of a few lags leaves in the modes of a symmetric W of eigenvalues lambda_i:
// y_i(t) = lambda_i (y_i(t - 1) + eta_t v(t)), y_i(-1) = 0, for every mode as if v were its own.

/// What the noise v = fresh q + past h of one round is, given the state before it.
struct RoundNoise {
    Eigen::VectorXd past;        ///< B
    Eigen::VectorXd with_lags;   ///< Cov(v, h)
    Eigen::VectorXd with_modes;  ///< Cov(v, y_i)
    double variance = 0;         ///< of v
};

/// Covariances of the modes y_i before a round and of the lags h of its noise.
struct ModeState {
    Eigen::MatrixXd lags;      ///< of h, B x B
    Eigen::MatrixXd modes;     ///< of y_i and h, modes x B
    Eigen::VectorXd variance;  ///< of y_i

    /// Before the first round.
    ModeState(Eigen::Index modes_count, Eigen::Index lag_count);

    [[nodiscard]] RoundNoise noise_of_round(const LaggedNoise& noise, Eigen::Index t) const;
    /// To the state before the next round. Cost: O(B^2 + modes B).
    /// @param round noise_of_round(noise, t).  @param values lambda_i.  @param step eta_t.
    void advance(const LaggedNoise& noise,
                 const RoundNoise& round,
                 const Eigen::VectorXd& values,
                 double step,
                 Eigen::Index t);
};

/// sum over rounds t of Var y_i(t), for every mode.
/// @param values lambda_i. Cost: O(T (B^2 + modes B)).
[[nodiscard]] Eigen::VectorXd mode_gains(const LaggedNoise& noise,
                                         const Eigen::VectorXd& values,
                                         std::span<const double> step_sizes);

}  // namespace sotto
