#include "design/temporal_utility.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/linear_algebra.hpp"
#include "design/mixing_search.hpp"
#include "sotto/core/error.hpp"
#include "sotto/graph/mixing_schedule.hpp"

namespace sotto {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Columns: D^-1 W^K F, D^-1 W^2K F, ..., D^-1 W^TK F, each as one column of n columns(F) numbers.
MatrixXd propagated(const MixingMatrix& mixing,
                    const MatrixXd& start,
                    Index rounds,
                    const GossipPolynomial& gossip) {
    MatrixXd result(start.size(), rounds);
    const VectorXd factors = estimate_factors(mixing);
    MatrixXd current = start;
    for (Index t = 0; t < rounds; ++t) {
        current = gossip.times(mixing, current);
        result.col(t) = (factors.asDiagonal() * current).reshaped();
    }
    return result;
}

void scale_by_steps(MatrixXd& utility, std::span<const double> step_sizes) {
    const Eigen::Map<const VectorXd> steps(step_sizes.data(),
                                           static_cast<Index>(step_sizes.size()));
    utility = steps.asDiagonal() * utility * steps.asDiagonal();
}

/// A factor F with F F^T = the positive semidefinite matrix, without negligible directions.
MatrixXd root_of(const MatrixXd& matrix) {
    const SymmetricEigen eigen = symmetric_eigen(matrix);
    const Index n = matrix.rows();
    const double cut_off = 1e-15 * std::max(eigen.values(n - 1), 0.0);
    Index first = 0;
    while (first < n - 1 && !(eigen.values(first) > cut_off)) ++first;
    return eigen.vectors.rightCols(n - first) *
           eigen.values.tail(n - first).cwiseMax(0).cwiseSqrt().asDiagonal();
}

}  // namespace

MatrixXd temporal_utility(const MixingMatrix& mixing,
                          const MatrixXd& spatial_covariance,
                          std::span<const double> step_sizes,
                          const GossipPolynomial& gossip) {
    const auto rounds = static_cast<Index>(step_sizes.size());
    MatrixXd utility(rounds, rounds);
    // H_st = H_{s+1,t+1} + the term of the largest tau; lags count from the last round.
    if (mixing.symmetric()) {
        const MixingModes modes = mixing_modes(mixing, gossip);
        VectorXd moments(2 * rounds + 1);  // sum_i w_i lambda_i^m
        VectorXd power = mode_weights(modes, spatial_covariance);
        for (Index m = 0; m <= 2 * rounds; ++m) {
            moments(m) = power.sum();
            power = power.cwiseProduct(modes.values);
        }
        for (Index lag = 0; lag < rounds; ++lag) {
            double sum = 0;
            for (Index t = rounds - 1; t >= lag; --t) {
                sum += moments(2 * (rounds - t) + lag);
                utility(t, t - lag) = utility(t - lag, t) = sum;
            }
        }
    } else {
        const MatrixXd reached = propagated(mixing, root_of(spatial_covariance), rounds, gossip);
        MatrixXd products = MatrixXd::Zero(rounds, rounds);
        add_gram(reached, products);
        for (Index lag = 0; lag < rounds; ++lag) {
            double sum = 0;
            for (Index t = rounds - 1; t >= lag; --t) {
                sum += products(rounds - 1 - t + lag, rounds - 1 - t);
                utility(t, t - lag) = utility(t - lag, t) = sum;
            }
        }
    }
    scale_by_steps(utility, step_sizes);
    return utility;
}

void require_joint_rows(long agents, long rounds) {
    if (agents * rounds > most_joint_rows)
        throw ConfigError(
            fmt::format("rounds: {} rounds of {} agents are too many to be planned for all at once "
                        "(allowed: agents * rounds up to {})",
                        rounds,
                        agents,
                        most_joint_rows));
}

MatrixXd joint_utility(const MixingMatrix& mixing,
                       std::span<const double> step_sizes,
                       const GossipPolynomial& gossip) {
    const auto rounds = static_cast<Index>(step_sizes.size());
    const Index n = mixing.agents();
    require_joint_rows(n, rounds);
    const MatrixXd powers = propagated(mixing, MatrixXd::Identity(n, n), rounds, gossip);
    const auto power = [&](Index k) { return powers.col(k - 1).reshaped(n, n); };
    MatrixXd utility(n * rounds, n * rounds);
    // H_st = H_{s+1,t+1} + the term of the largest tau; lags count from the last round.
    for (Index lag = 0; lag < rounds; ++lag) {
        MatrixXd sum = MatrixXd::Zero(n, n);
        for (Index t = rounds - 1; t >= lag; --t) {
            const Index s = t - lag;
            sum += power(rounds - s).transpose() * power(rounds - t);
            utility.block(s * n, t * n, n, n) = step_sizes[static_cast<std::size_t>(s)] *
                                                step_sizes[static_cast<std::size_t>(t)] * sum;
            if (t > s)
                utility.block(t * n, s * n, n, n) = utility.block(s * n, t * n, n, n).transpose();
        }
    }
    return utility;
}

MatrixXd spatial_utility(const MixingMatrix& mixing,
                         const TemporalFactor& factor,
                         std::span<const double> step_sizes,
                         const GossipPolynomial& gossip) {
    const auto rounds = static_cast<long>(step_sizes.size());
    if (mixing.symmetric() && factor.kind != TemporalFactor::Kind::dense) {
        const MixingModes modes = mixing_modes(mixing, gossip);
        const VectorXd gains =
            mode_gains(lagged_noise(factor, rounds, static_cast<int>(factor.lower.cols())),
                       modes.values,
                       step_sizes);
        return modes.vectors * gains.asDiagonal() * modes.vectors.transpose();
    }
    if (rounds > most_dense_rounds)
        throw ConfigError(fmt::format(
            "rounds: {} are too many for the objective of a {} (at most {})",
            rounds,
            mixing.symmetric() ? "dense temporal factor" : "mixing matrix that is not symmetric",
            most_dense_rounds));
    const MatrixXd inverse = dense_factor(factor, rounds)
                                 .triangularView<Eigen::Lower>()
                                 .solve(MatrixXd::Identity(rounds, rounds));
    return spatial_utility(mixing, inverse * inverse.transpose(), step_sizes, gossip);
}

MatrixXd spatial_utility(const MixingMatrix& mixing,
                         const MatrixXd& inverse_gram,
                         std::span<const double> step_sizes,
                         const GossipPolynomial& gossip) {
    const auto rounds = static_cast<Index>(step_sizes.size());
    MatrixXd weighted = inverse_gram;
    scale_by_steps(weighted, step_sizes);
    // M = sum_{k,l} c_kl (W^l)^T W^k,  c_kl = sum_tau weighted(tau + 1 - k, tau + 1 - l).
    MatrixXd coefficients(rounds, rounds);
    for (Index lag = 0; lag < rounds; ++lag) {
        double sum = 0;
        // k = rounds - s, l = rounds - t at tau = rounds - 1; larger tau first.
        for (Index k = rounds; k > lag; --k) {
            sum += weighted(rounds - k, rounds - k + lag);
            coefficients(k - 1, k - 1 - lag) = coefficients(k - 1 - lag, k - 1) = sum;
        }
    }
    if (mixing.symmetric()) {
        const MixingModes modes = mixing_modes(mixing, gossip);
        MatrixXd vandermonde(rounds, modes.values.size());
        vandermonde.row(0) = modes.values.transpose();
        for (Index k = 1; k < rounds; ++k)
            vandermonde.row(k) = vandermonde.row(k - 1).cwiseProduct(modes.values.transpose());
        const VectorXd gains =
            (coefficients * vandermonde).cwiseProduct(vandermonde).colwise().sum();
        return modes.vectors * gains.asDiagonal() * modes.vectors.transpose();
    }
    const Index n = mixing.agents();
    const MatrixXd combined =
        propagated(mixing, MatrixXd::Identity(n, n), rounds, gossip) * root_of(coefficients);
    MatrixXd result = MatrixXd::Zero(n, n);
    for (Index j = 0; j < combined.cols(); ++j) add_gram(combined.col(j).reshaped(n, n), result);
    return result.selfadjointView<Eigen::Lower>();
}

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

ModeState::ModeState(Index modes_count, Index lag_count)
    : lags(MatrixXd::Zero(lag_count, lag_count)),
      modes(MatrixXd::Zero(modes_count, lag_count)),
      variance(VectorXd::Zero(modes_count)) {}

RoundNoise ModeState::noise_of_round(const LaggedNoise& noise, Index t) const {
    RoundNoise round;
    round.past = noise.past.row(t).transpose();
    round.with_lags = lags * round.past;
    round.with_modes = modes * round.past;
    round.variance = noise.fresh(t) * noise.fresh(t) + round.past.dot(round.with_lags);
    return round;
}

void ModeState::advance(const LaggedNoise& noise,
                        const RoundNoise& round,
                        const VectorXd& values,
                        double step,
                        Index t) {
    variance = (values.array().square() * (variance.array() + 2 * step * round.with_modes.array() +
                                           step * step * round.variance))
                   .matrix();
    if (noise.lags == 0) return;
    // Covariance of v, and of y and h before the round, with the new h_1 (v, or fresh noise).
    const bool remembers = noise.remembers_noise;
    const double own = remembers ? round.variance : noise.fresh(t);
    for (Index k = noise.lags - 1; k > 0; --k)
        modes.col(k) = values.cwiseProduct(
            modes.col(k - 1) + VectorXd::Constant(values.size(), step * round.with_lags(k - 1)));
    modes.col(0) =
        values.cwiseProduct((remembers ? round.with_modes : VectorXd::Zero(values.size())) +
                            VectorXd::Constant(values.size(), step * own));
    if (noise.lags > 1) {
        const Index kept = noise.lags - 1;
        const MatrixXd shifted = lags.topLeftCorner(kept, kept);
        lags.bottomRightCorner(kept, kept) = shifted;
        const VectorXd with_first =
            remembers ? VectorXd(round.with_lags.head(kept)) : VectorXd::Zero(kept);
        lags.col(0).tail(kept) = with_first;
        lags.row(0).tail(kept) = with_first.transpose();
    }
    lags(0, 0) = remembers ? round.variance : 1;
}

VectorXd mode_gains(const LaggedNoise& noise,
                    const VectorXd& values,
                    std::span<const double> step_sizes) {
    ModeState state(values.size(), noise.lags);
    VectorXd gains = VectorXd::Zero(values.size());
    for (std::size_t t = 0; t < step_sizes.size(); ++t) {
        const auto round = static_cast<Index>(t);
        state.advance(noise, state.noise_of_round(noise, round), values, step_sizes[t], round);
        gains += state.variance;
    }
    return gains;
}

}  // namespace sotto
