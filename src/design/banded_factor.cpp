#include "design/banded_factor.hpp"

#include <LBFGS.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "design/mode_recursion.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/numbers.hpp"
#include "sotto/privacy/temporal_sensitivity.hpp"

namespace sotto {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

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

  private:
    /// Keeps the states before all rounds.
    double forward(const LaggedNoise& noise) {
        states_.clear();
        states_.reserve(static_cast<std::size_t>(rounds_));
        ModeState state(values_.size(), band_);
        double value = 0;
        for (Index t = 0; t < rounds_; ++t) {
            states_.push_back(state);
            state.advance(noise,
                          state.noise_of_round(noise, t),
                          values_,
                          steps_[static_cast<std::size_t>(t)],
                          t);
            value += weights_.dot(state.variance);
        }
        return value;
    }

    /// T x (B+1): derivatives by fresh and past of every round.
    [[nodiscard]] MatrixXd backward(const LaggedNoise& noise) const {
        MatrixXd slope(rounds_, band_ + 1);
        ModeState after(values_.size(), band_);  // derivatives by the state after the round
        for (Index t = rounds_ - 1; t >= 0; --t) {
            const ModeState& state = states_[static_cast<std::size_t>(t)];
            const RoundNoise round = state.noise_of_round(noise, t);
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
            ModeState before(values_.size(), band_);
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

    VectorXd values_, weights_;
    std::span<const double> steps_;
    Index rounds_, band_, block_;
    std::vector<ModeState> states_;
};

/// Powers of one number below the diagonal, the best of a few, and their value.
std::pair<VectorXd, double> best_powers(BandedObjective& objective, Index rounds, Index band) {
    VectorXd gradient(objective.unknowns()), entries;
    double value = infinity;
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
    return {std::move(entries), value};
}

LBFGSpp::LBFGSParam<double> factor_descent_parameters() {
    LBFGSpp::LBFGSParam<double> parameters;
    parameters.m = 20;
    parameters.epsilon = 0;
    parameters.epsilon_rel = 0;
    parameters.past = 5;
    parameters.delta = 1e-7;
    parameters.max_iterations = 400;
    parameters.max_linesearch = 60;
    return parameters;
}

}  // namespace

ShapedFactor solve_banded_factor(const VectorXd& values,
                                 const VectorXd& weights,
                                 std::span<const double> step_sizes,
                                 long cycle,
                                 long band,
                                 long restart) {
    if (band < 1 || band >= cycle)
        throw ConfigError(fmt::format(
            "temporal: a band of {} is not allowed here (1 to {}, so that no two participations "
            "meet)",
            band,
            cycle - 1));
    const auto rounds = static_cast<Index>(step_sizes.size());
    const Index block = restart > 0 ? restart : rounds;
    BandedObjective objective(values, weights, step_sizes, band, block);
    auto [entries, value] = best_powers(objective, rounds, band);
    const double scale = 1 / value;
    const auto scaled = [&](const VectorXd& at, VectorXd& slope) {
        const double found = objective(at, slope);
        slope *= scale;
        return scale * found;
    };
    const LBFGSpp::LBFGSParam<double> parameters = factor_descent_parameters();
    LBFGSpp::LBFGSSolver<double> solver(parameters);
    try {
        double end = 0;
        solver.minimize(scaled, entries, end);
    } catch (const std::runtime_error&) {
        // No descent left within rounding; the last point is kept.
    }
    VectorXd gradient(objective.unknowns());
    const double left = objective(entries, gradient);
    return {{TemporalFactor::Kind::banded, objective.lower(entries)}, left, not_a_number};
}

}  // namespace sotto
