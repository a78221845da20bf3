// Temporal factors of few lags, over any number of rounds.

#include <LBFGS.h>
#include <fmt/format.h>

#include <algorithm>
#include <boost/math/tools/minima.hpp>
#include <cmath>
#include <stdexcept>

#include "sotto/core/error.hpp"
#include "sotto/noise/temporal_solver.hpp"
#include "sotto/privacy/temporal_sensitivity.hpp"

namespace sotto {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Covariances of the modes y_i before a round and of the lags h of its noise.
struct RoundState {
    MatrixXd lags;      // of h, B x B
    MatrixXd modes;     // of y_i and h, modes x B
    VectorXd variance;  // of y_i
    RoundState(Index modes_count, Index lag_count)
        : lags(MatrixXd::Zero(lag_count, lag_count)),
          modes(MatrixXd::Zero(modes_count, lag_count)),
          variance(VectorXd::Zero(modes_count)) {}
};

/// What a round's noise v = fresh q + past h is, given the state before it.
struct RoundNoise {
    VectorXd past;        // B
    VectorXd with_lags;   // Cov(v, h)
    VectorXd with_modes;  // Cov(v, y_i)
    double variance = 0;  // of v
};

RoundNoise noise_of_round(const LaggedNoise& noise, const RoundState& state, Index t) {
    RoundNoise round;
    round.past = noise.past.row(t).transpose();
    round.with_lags = state.lags * round.past;
    round.with_modes = state.modes * round.past;
    round.variance = noise.fresh(t) * noise.fresh(t) + round.past.dot(round.with_lags);
    return round;
}

/// To the state before the next round. `remembered` is Var of the new h_1, and what Cov(v, h_1) is.
void advance(const LaggedNoise& noise,
             const RoundNoise& round,
             const VectorXd& values,
             double step,
             Index t,
             RoundState& state) {
    const Index lags = noise.lags;
    state.variance =
        (values.array().square() * (state.variance.array() + 2 * step * round.with_modes.array() +
                                    step * step * round.variance))
            .matrix();
    if (lags == 0) return;
    // Covariance of v, and of y and h before the round, with the new h_1 (v, or fresh noise).
    const bool remembers = noise.remembers_noise;
    const double own = remembers ? round.variance : noise.fresh(t);
    for (Index k = lags - 1; k > 0; --k)
        state.modes.col(k) =
            values.cwiseProduct(state.modes.col(k - 1) +
                                VectorXd::Constant(values.size(), step * round.with_lags(k - 1)));
    state.modes.col(0) =
        values.cwiseProduct((remembers ? round.with_modes : VectorXd::Zero(values.size())) +
                            VectorXd::Constant(values.size(), step * own));
    if (lags > 1) {
        const MatrixXd shifted = state.lags.topLeftCorner(lags - 1, lags - 1);
        state.lags.bottomRightCorner(lags - 1, lags - 1) = shifted;
        const VectorXd with_first =
            remembers ? VectorXd(round.with_lags.head(lags - 1)) : VectorXd::Zero(lags - 1);
        state.lags.col(0).tail(lags - 1) = with_first;
        state.lags.row(0).tail(lags - 1) = with_first.transpose();
    }
    state.lags(0, 0) = remembers ? round.variance : 1;
}

/// sum_i w_i gain_i as a function of the entries below the diagonal of C_time, relative to it;
/// columns are scaled to unit length.
class BandedObjective {
  public:
    BandedObjective(const VectorXd& values,
                    const VectorXd& weights,
                    std::span<const double> steps,
                    Index band,
                    Index block)
        : values_(values),
          weights_(weights),
          steps_(steps),
          rounds_(static_cast<Index>(steps.size())),
          band_(band),
          block_(block) {}

    [[nodiscard]] Index unknowns() const { return rounds_ * band_; }
    /// Column s of C_time holds entries s to s + reach(s).
    [[nodiscard]] Index reach(Index s) const {
        return std::min({band_, rounds_ - 1 - s, block_ - 1 - s % block_});
    }
    /// T x (B+1), column b the b-th subdiagonal.
    [[nodiscard]] MatrixXd lower(const VectorXd& entries) const {
        MatrixXd result = MatrixXd::Zero(rounds_, band_ + 1);
        for (Index s = 0; s < rounds_; ++s) {
            const auto below = entries.segment(s * band_, reach(s));
            const double length = std::sqrt(1 + below.squaredNorm());
            result(s, 0) = 1 / length;
            for (Index k = 1; k <= reach(s); ++k) result(s + k, k) = below(k - 1) / length;
        }
        return result;
    }

    double operator()(const VectorXd& entries, VectorXd& gradient) {
        ++evaluations_;
        const MatrixXd band = lower(entries);
        LaggedNoise noise;
        noise.lags = static_cast<int>(band_);
        noise.remembers_noise = true;
        noise.fresh = band.col(0).cwiseInverse();
        noise.past = -(noise.fresh.asDiagonal() * band.rightCols(band_));
        const double value = forward(noise);
        const MatrixXd slope = backward(noise);  // by fresh, then past
        // By C: fresh = 1/C_tt, past = -C_t,t-j / C_tt.
        MatrixXd by_band(rounds_, band_ + 1);
        for (Index t = 0; t < rounds_; ++t) {
            const double fresh = noise.fresh(t);
            by_band.row(t).tail(band_) = -fresh * slope.row(t).tail(band_);
            by_band(t, 0) =
                -fresh * (fresh * slope(t, 0) + slope.row(t).tail(band_).dot(noise.past.row(t)));
        }
        gradient.setZero();
        for (Index s = 0; s < rounds_; ++s) {
            const Index count = reach(s);
            const double shorter = band(s, 0);  // 1 / length
            double along = by_band(s, 0) * band(s, 0);
            for (Index k = 1; k <= count; ++k) along += by_band(s + k, k) * band(s + k, k);
            for (Index k = 1; k <= count; ++k)
                gradient(s * band_ + k - 1) =
                    shorter * (by_band(s + k, k) - along * band(s + k, k));
        }
        return value;
    }
    [[nodiscard]] int evaluations() const { return evaluations_; }

  private:
    /// Keeps the states before all rounds.
    double forward(const LaggedNoise& noise) {
        states_.clear();
        states_.reserve(static_cast<std::size_t>(rounds_));
        RoundState state(values_.size(), band_);
        double value = 0;
        for (Index t = 0; t < rounds_; ++t) {
            states_.push_back(state);
            advance(noise,
                    noise_of_round(noise, state, t),
                    values_,
                    steps_[static_cast<std::size_t>(t)],
                    t,
                    state);
            value += weights_.dot(state.variance);
        }
        return value;
    }

    /// T x (B+1): derivatives by fresh and past of every round.
    [[nodiscard]] MatrixXd backward(const LaggedNoise& noise) const {
        MatrixXd slope(rounds_, band_ + 1);
        RoundState after(values_.size(), band_);  // derivatives by the state after the round
        for (Index t = rounds_ - 1; t >= 0; --t) {
            const RoundState& state = states_[static_cast<std::size_t>(t)];
            const RoundNoise round = noise_of_round(noise, state, t);
            const double step = steps_[static_cast<std::size_t>(t)];
            after.variance += weights_;
            const VectorXd by_variance = values_.cwiseAbs2().cwiseProduct(after.variance);
            const MatrixXd by_modes = values_.asDiagonal() * after.modes;
            // Of v with the modes, of v, of v with the lags.
            const VectorXd by_with_modes = 2 * step * by_variance + by_modes.col(0);
            const double by_own =
                step * step * by_variance.sum() + step * by_modes.col(0).sum() + after.lags(0, 0);
            VectorXd by_with_lags = VectorXd::Zero(band_);
            by_with_lags.head(band_ - 1) =
                step * by_modes.rightCols(band_ - 1).colwise().sum().transpose() +
                2 * after.lags.col(0).tail(band_ - 1);
            slope(t, 0) = 2 * noise.fresh(t) * by_own;
            slope.row(t).tail(band_) = (state.modes.transpose() * by_with_modes +
                                        2 * by_own * round.with_lags + state.lags * by_with_lags)
                                           .transpose();
            RoundState before(values_.size(), band_);
            before.variance = by_variance;
            before.modes.leftCols(band_ - 1) = by_modes.rightCols(band_ - 1);
            before.modes += by_with_modes * round.past.transpose();
            before.lags.topLeftCorner(band_ - 1, band_ - 1) =
                after.lags.bottomRightCorner(band_ - 1, band_ - 1);
            before.lags += by_own * round.past * round.past.transpose() +
                           0.5 * (by_with_lags * round.past.transpose() +
                                  round.past * by_with_lags.transpose());
            after = std::move(before);
        }
        return slope;
    }

    const VectorXd& values_;
    const VectorXd& weights_;
    std::span<const double> steps_;
    Index rounds_, band_, block_;
    std::vector<RoundState> states_;
    int evaluations_ = 0;
};

TemporalFactor one_lag_factor(double rho, Index rounds, Index block) {
    MatrixXd lower = MatrixXd::Ones(rounds, 2);
    for (Index t = 0; t < rounds; ++t) lower(t, 1) = t % block == 0 ? 0 : -rho;
    return {TemporalFactor::Kind::one_lag, std::move(lower)};
}

}  // namespace

VectorXd mode_gains(const LaggedNoise& noise,
                    const VectorXd& values,
                    std::span<const double> step_sizes) {
    RoundState state(values.size(), noise.lags);
    VectorXd gains = VectorXd::Zero(values.size());
    for (std::size_t t = 0; t < step_sizes.size(); ++t) {
        const auto round = static_cast<Index>(t);
        advance(noise, noise_of_round(noise, state, round), values, step_sizes[t], round, state);
        gains += state.variance;
    }
    return gains;
}

LaggedSolution solve_banded_factor(const VectorXd& values,
                                   const VectorXd& weights,
                                   std::span<const double> step_sizes,
                                   long cycle,
                                   long band,
                                   long restart,
                                   int max_iterations) {
    if (band < 1 || band >= cycle)
        throw ConfigError(fmt::format(
            "temporal: a band of {} is not allowed here (1 to {}, so that no two participations "
            "meet)",
            band,
            cycle - 1));
    const auto rounds = static_cast<Index>(step_sizes.size());
    const Index block = restart > 0 ? restart : rounds;
    BandedObjective objective(values, weights, step_sizes, band, block);
    // From powers of one number, the best of a few.
    VectorXd gradient(objective.unknowns()), entries;
    double value = std::numeric_limits<double>::infinity();
    for (const double rho : {0.0, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95}) {
        VectorXd trial(objective.unknowns());
        for (Index s = 0; s < rounds; ++s)
            for (Index k = 0; k < band; ++k)
                trial(s * band + k) =
                    k < objective.reach(s) ? std::pow(rho, static_cast<double>(k + 1)) : 0;
        const double found = objective(trial, gradient);
        if (found < value) {
            value = found;
            entries = std::move(trial);
        }
    }
    const double scale = 1 / value;
    const auto scaled = [&](const VectorXd& at, VectorXd& slope) {
        const double found = objective(at, slope);
        slope *= scale;
        return scale * found;
    };
    LBFGSpp::LBFGSParam<double> parameters;
    parameters.m = 20;
    parameters.epsilon = 0;
    parameters.epsilon_rel = 0;
    parameters.past = 5;
    parameters.delta = 1e-7;
    parameters.max_iterations = max_iterations;
    parameters.max_linesearch = 60;
    LBFGSpp::LBFGSSolver<double> solver(parameters);
    try {
        double end = 0;
        solver.minimize(scaled, entries, end);
    } catch (const std::runtime_error&) {
        // No descent left within rounding; the last point is kept.
    }
    LaggedSolution solution;
    solution.value = objective(entries, gradient);
    solution.factor = {TemporalFactor::Kind::banded, objective.lower(entries)};
    solution.iterations = objective.evaluations();
    return solution;
}

LaggedSolution solve_one_lag_factor(const VectorXd& diagonal,
                                    const VectorXd& subdiagonal,
                                    long cycle,
                                    long restart) {
    const Index rounds = diagonal.size();
    const Index block = restart > 0 ? restart : rounds;
    const double participations = temporal_sensitivity_squared({}, {cycle}, rounds);
    LaggedSolution solution;
    const auto value = [&](double rho) {
        ++solution.iterations;
        const TemporalFactor factor = one_lag_factor(rho, rounds, block);
        double noise = diagonal.sum();
        for (Index t = 0; t < rounds; ++t) {
            const double past = factor.lower(t, 1);
            if (past != 0) noise += past * past * diagonal(t) + 2 * past * subdiagonal(t);
        }
        return noise * temporal_sensitivity_squared(factor, {cycle}, rounds) / participations;
    };
    // The best of a grid, refined between its neighbours.
    constexpr int grid = 40;
    int best = 0;
    double best_value = value(0);
    for (int i = 1; i <= grid; ++i)
        if (const double found = value(static_cast<double>(i) / grid); found < best_value) {
            best = i;
            best_value = found;
        }
    const auto refined =
        boost::math::tools::brent_find_minima(value,
                                              std::max(0.0, static_cast<double>(best - 1) / grid),
                                              std::min(1.0, static_cast<double>(best + 1) / grid),
                                              40);
    const double rho =
        refined.second < best_value ? refined.first : static_cast<double>(best) / grid;
    solution.value = std::min(refined.second, best_value);
    solution.factor = one_lag_factor(rho, rounds, block);
    return solution;
}

}  // namespace sotto
