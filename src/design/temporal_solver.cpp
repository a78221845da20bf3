#include "design/temporal_solver.hpp"

#include <LBFGS.h>
#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <boost/math/tools/minima.hpp>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "core/linear_algebra.hpp"
#include "core/numbers.hpp"
#include "design/spatial_solver.hpp"
#include "design/temporal_utility.hpp"
#include "sotto/core/error.hpp"
#include "sotto/privacy/budget.hpp"
#include "sotto/privacy/privacy_record.hpp"

namespace sotto {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// The free entries (s, t), s > t, inside the band and not of one pattern, and the matrix they
/// fill.
class FreeEntries {
  public:
    FreeEntries(Index rounds, long cycle, long band)
        : rounds_(rounds), cycle_(cycle), band_(band > 0 ? band : rounds) {
        for (Index t = 0; t < rounds; ++t)
            for (Index s = t + 1; s < rounds; ++s)
                if (!fixed(s, t)) ++count_;
    }
    [[nodiscard]] Index count() const { return count_; }
    /// For s >= t.
    [[nodiscard]] bool fixed(Index s, Index t) const {
        return (s - t) % cycle_ == 0 || s - t > band_;
    }
    /// Only the patterns fix entries: fixed entries then form diagonal blocks.
    [[nodiscard]] bool patterns_only() const { return band_ >= rounds_ - 1; }
    template <class Visit>
    void for_each(Visit&& visit) const {
        Index i = 0;
        for (Index t = 0; t < rounds_; ++t)
            for (Index s = t + 1; s < rounds_; ++s)
                if (!fixed(s, t)) visit(i++, s, t);
    }
    /// Both triangles, ones on the diagonal.
    [[nodiscard]] MatrixXd matrix(const VectorXd& entries) const {
        MatrixXd result = MatrixXd::Identity(rounds_, rounds_);
        for_each([&](Index i, Index s, Index t) { result(s, t) = result(t, s) = entries(i); });
        return result;
    }
    /// The matrix with its free entries set to zero.
    [[nodiscard]] MatrixXd without_free(MatrixXd matrix) const {
        for_each([&](Index, Index s, Index t) { matrix(s, t) = matrix(t, s) = 0; });
        return matrix;
    }

  private:
    Index rounds_;
    long cycle_;
    Index band_;
    Index count_ = 0;
};

/// Tr(H X^-1) and its gradient; infinite unless X is positive definite.
class Objective {
  public:
    Objective(const MatrixXd& root, const FreeEntries& free, double scale)
        : root_(root), free_(free), scale_(scale), best_(VectorXd::Zero(free.count())) {}

    double operator()(const VectorXd& entries, VectorXd& gradient) {
        ++evaluations_;
        MatrixXd gram = free_.matrix(entries);
        // X^-1 H X^-1 = (X^-1 L) (X^-1 L)^T
        solved_ = root_;
        if (!solve_positive_definite(gram, solved_)) {
            gradient.setZero();
            return infinity;
        }
        const double value = scale_ * solved_.cwiseProduct(root_).sum();
        if (value < best_value_) {
            best_value_ = value;
            best_ = entries;
        }
        product_.setZero(root_.rows(), root_.rows());
        add_gram(solved_.transpose(), product_);  // lower triangle
        free_.for_each(
            [&](Index i, Index s, Index t) { gradient(i) = -2 * scale_ * product_(s, t); });
        return value;
    }
    [[nodiscard]] int evaluations() const { return evaluations_; }
    /// The best point so far; initially X = I.
    [[nodiscard]] const VectorXd& best() const { return best_; }
    [[nodiscard]] double best_value() const { return best_value_; }

  private:
    const MatrixXd& root_;
    const FreeEntries& free_;
    double scale_;
    VectorXd best_;
    double best_value_ = infinity;
    MatrixXd solved_, product_;
    int evaluations_ = 0;
};

double value_of(const MatrixXd& root, MatrixXd gram) {
    MatrixXd solved = root;
    if (!solve_positive_definite(gram, solved)) return infinity;
    return solved.cwiseProduct(root).sum();
}

/// Lower bound from the certificate of a candidate X.
double lower_bound_at(const MatrixXd& root, const FreeEntries& free, MatrixXd gram) {
    MatrixXd solved = root;
    if (!solve_positive_definite(gram, solved)) return 0;
    MatrixXd dual = free.without_free(solved * solved.transpose());
    if (!free.patterns_only())
        dual.diagonal().array() += std::max(0.0, -1.01 * symmetric_eigenvalues(dual).minCoeff());
    const VectorXd values = symmetric_eigenvalues(root.transpose() * dual * root);
    const double trace = values.cwiseMax(0).cwiseSqrt().sum();
    return trace * trace / dual.trace();
}

/// One participation: only the diagonal is fixed, which is the spatial problem.
TemporalSolution solve_one_participation(const MatrixXd& utility,
                                         const MatrixXd& root,
                                         double relative_gap) {
    const Index rounds = utility.rows();
    SpatialOptions options;
    options.relative_gap = relative_gap;
    const SpatialSolution same = solve_spatial_covariance(utility, VectorXd::Ones(rounds), options);
    MatrixXd covariance = same.covariance;
    MatrixXd gram = MatrixXd::Identity(rounds, rounds);
    if (!solve_positive_definite(covariance, gram))
        throw ConfigError("temporal factor: numerically singular; use fewer rounds");
    gram = (0.5 * (gram + gram.transpose())).eval();
    const VectorXd unit = gram.diagonal().cwiseSqrt().cwiseInverse();
    gram = (unit.asDiagonal() * gram * unit.asDiagonal()).eval();
    gram.diagonal().setOnes();
    const double value = value_of(root, gram);
    return {std::move(gram), value, same.lower_bound};
}

LBFGSpp::LBFGSParam<double> gram_descent_parameters() {
    LBFGSpp::LBFGSParam<double> parameters;
    parameters.m = 20;
    parameters.epsilon = 0;
    parameters.epsilon_rel = 0;
    parameters.max_iterations = 200;
    parameters.past = 10;
    parameters.delta = 1e-11;
    parameters.max_linesearch = 60;
    // The objective is convex: every step has positive curvature.
    parameters.linesearch = LBFGSpp::LBFGS_LINESEARCH_BACKTRACKING_ARMIJO;
    return parameters;
}

/// In stages, so that the certificate, which costs an eigendecomposition, is rarely computed.
TemporalSolution descend(const MatrixXd& root,
                         const FreeEntries& free,
                         double scale,
                         const TemporalOptions& options) {
    Objective objective(root, free, scale);
    const LBFGSpp::LBFGSParam<double> parameters = gram_descent_parameters();
    LBFGSpp::LBFGSSolver<double> solver(parameters);
    TemporalSolution solution;
    for (double before = infinity; objective.evaluations() < options.max_iterations;) {
        VectorXd entries = objective.best();
        double value = 0;
        try {
            solver.minimize(objective, entries, value);
        } catch (const std::runtime_error&) {
            // No descent possible within rounding; the best point is kept.
        }
        solution.gram = free.matrix(objective.best());
        solution.value = objective.best_value() / scale;
        solution.lower_bound =
            std::max(solution.lower_bound, lower_bound_at(root, free, solution.gram));
        if (solution.relative_gap() <= options.relative_gap ||
            !(solution.value < before * (1 - 1e-12)))
            break;
        before = solution.value;
    }
    return solution;
}

}  // namespace

TemporalSolution solve_temporal_gram(const MatrixXd& utility,
                                     long cycle,
                                     const TemporalOptions& options) {
    const Index rounds = utility.rows();
    if (cycle < 1)
        throw ConfigError(fmt::format("cycle: {} is not allowed (must be at least 1)", cycle));
    const Eigen::LLT<MatrixXd> cholesky(utility);
    if (cholesky.info() != Eigen::Success)
        throw ConfigError(
            "temporal factor: the utility of the rounds is numerically not positive definite; use "
            "fewer rounds or larger step sizes at the end");
    const MatrixXd root = cholesky.matrixL();
    const FreeEntries free(rounds, cycle, options.band);
    if (cycle >= rounds && free.patterns_only())
        return solve_one_participation(utility, root, options.relative_gap);
    if (free.count() > 0) return descend(root, free, 1 / utility.trace(), options);
    return {MatrixXd::Identity(rounds, rounds), utility.trace(), utility.trace()};
}

MatrixXd temporal_factor_of(const MatrixXd& gram) {
    const MatrixXd reversed = gram.reverse();
    const Eigen::LLT<MatrixXd> cholesky(reversed);
    if (cholesky.info() != Eigen::Success)
        throw ConfigError("temporal factor: its Gram matrix is not positive definite");
    const MatrixXd lower = cholesky.matrixL();
    return lower.transpose().reverse();
}

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
    /// Stores the states before all rounds.
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

/// The best of a few bands with powers of one number below the diagonal, and their value.
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
        // No descent possible within rounding; the last point is kept.
    }
    VectorXd gradient(objective.unknowns());
    const double left = objective(entries, gradient);
    return {{TemporalFactor::Kind::banded, objective.lower(entries)}, left, not_a_number};
}

namespace {

using Eigen::Index;
using Eigen::VectorXd;

TemporalFactor one_lag_factor(double rho, Index rounds, Index block) {
    Eigen::MatrixXd lower = Eigen::MatrixXd::Ones(rounds, 2);
    for (Index t = 0; t < rounds; ++t) lower(t, 1) = t % block == 0 ? 0 : -rho;
    return {TemporalFactor::Kind::one_lag, std::move(lower)};
}

struct Minimum {
    double at = 0, value = 0;
};

/// Minimum over [0, 1]: the best of a grid, refined between its neighbours.
template <class Function>
Minimum minimise_on_unit_interval(const Function& value) {
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
    return {refined.second < best_value ? refined.first : static_cast<double>(best) / grid,
            std::min(refined.second, best_value)};
}

}  // namespace

ShapedFactor solve_one_lag_factor(const VectorXd& diagonal,
                                  const VectorXd& subdiagonal,
                                  long cycle,
                                  long restart) {
    const Index rounds = diagonal.size();
    const Index block = restart > 0 ? restart : rounds;
    const double participations = temporal_sensitivity_squared({}, {cycle}, rounds);
    const auto value = [&](double rho) {
        const TemporalFactor factor = one_lag_factor(rho, rounds, block);
        double noise = diagonal.sum();
        for (Index t = 0; t < rounds; ++t) {
            const double past = factor.lower(t, 1);
            if (past != 0) noise += past * past * diagonal(t) + 2 * past * subdiagonal(t);
        }
        return noise * temporal_sensitivity_squared(factor, {cycle}, rounds) / participations;
    };
    const Minimum best = minimise_on_unit_interval(value);
    return {one_lag_factor(best.at, rounds, block), best.value, not_a_number};
}

}  // namespace sotto
