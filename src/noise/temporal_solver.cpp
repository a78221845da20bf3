#include "sotto/noise/temporal_solver.hpp"

#include <LBFGS.h>
#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "sotto/core/error.hpp"
#include "sotto/core/linear_algebra.hpp"
#include "sotto/core/numbers.hpp"
#include "sotto/noise/spatial_solver.hpp"

namespace sotto {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

VectorXd powers_of(const VectorXd& values, int exponent) {
    return values.array().pow(static_cast<double>(exponent)).matrix();
}

/// Columns: W^K F, W^2K F, ..., W^TK F, each as one column of n columns(F) numbers.
MatrixXd propagated(const MixingMatrix& mixing,
                    const MatrixXd& start,
                    Index rounds,
                    int gossip_steps) {
    MatrixXd result(start.size(), rounds);
    MatrixXd current = start;
    for (Index t = 0; t < rounds; ++t) {
        for (int k = 0; k < gossip_steps; ++k) current = mixing.sparse() * current;
        result.col(t) = current.reshaped();
    }
    return result;
}

void scale_by_steps(MatrixXd& utility, std::span<const double> step_sizes) {
    const Eigen::Map<const VectorXd> steps(step_sizes.data(),
                                           static_cast<Index>(step_sizes.size()));
    utility = steps.asDiagonal() * utility * steps.asDiagonal();
}

/// A factor F with F F^T = the positive semidefinite matrix, negligible directions left out.
MatrixXd root_of(const MatrixXd& matrix) {
    const SymmetricEigen eigen = symmetric_eigen(matrix);
    const Index n = matrix.rows();
    const double cut_off = 1e-15 * std::max(eigen.values(n - 1), 0.0);
    Index first = 0;
    while (first < n - 1 && !(eigen.values(first) > cut_off)) ++first;
    return eigen.vectors.rightCols(n - first) *
           eigen.values.tail(n - first).cwiseMax(0).cwiseSqrt().asDiagonal();
}

/// The free entries (s, t), s > t and not of one pattern, inside the band, and the matrix
/// they fill.
class FreeEntries {
  public:
    FreeEntries(Index rounds, long cycle, const TemporalOptions& options)
        : rounds_(rounds), cycle_(cycle), band_(options.band > 0 ? options.band : rounds) {
        for (Index t = 0; t < rounds; ++t)
            for (Index s = t + 1; s < rounds; ++s)
                if (!fixed(s, t)) ++count_;
    }
    [[nodiscard]] Index count() const { return count_; }
    /// Of s >= t.
    [[nodiscard]] bool fixed(Index s, Index t) const {
        return (s - t) % cycle_ == 0 || s - t > band_;
    }
    /// Only the patterns fix entries: what is fixed makes blocks on the diagonal.
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
    [[nodiscard]] VectorXd entries(const MatrixXd& matrix) const {
        VectorXd result(count_);
        for_each([&](Index i, Index s, Index t) { result(i) = matrix(s, t); });
        return result;
    }
    /// The free entries set to zero.
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

/// Tr(H X^-1) and its gradient; infinite where X is not positive definite.
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
    /// The best point so far, at first X = I.
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

/// The certificate of a candidate X.
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

}  // namespace

MatrixXd temporal_utility(const MixingMatrix& mixing,
                          const MatrixXd& spatial_covariance,
                          std::span<const double> step_sizes,
                          int gossip_steps) {
    const auto rounds = static_cast<Index>(step_sizes.size());
    MatrixXd utility(rounds, rounds);
    // H_st = H_{s+1,t+1} + the term of the largest tau; lags count from the last round.
    if (mixing.symmetric()) {
        const SymmetricEigen eigen = symmetric_eigen(mixing.dense());
        const VectorXd values = powers_of(eigen.values, gossip_steps);
        const VectorXd weights =
            (eigen.vectors.transpose() * spatial_covariance * eigen.vectors).diagonal();
        VectorXd moments(2 * rounds + 1);  // sum_i w_i lambda_i^m
        VectorXd power = weights;
        for (Index m = 0; m <= 2 * rounds; ++m) {
            moments(m) = power.sum();
            power = power.cwiseProduct(values);
        }
        for (Index lag = 0; lag < rounds; ++lag) {
            double sum = 0;
            for (Index t = rounds - 1; t >= lag; --t) {
                sum += moments(2 * (rounds - t) + lag);
                utility(t, t - lag) = utility(t - lag, t) = sum;
            }
        }
    } else {
        const MatrixXd reached =
            propagated(mixing, root_of(spatial_covariance), rounds, gossip_steps);
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

MatrixXd spatial_utility(const MixingMatrix& mixing,
                         const TemporalFactor& factor,
                         std::span<const double> step_sizes,
                         int gossip_steps) {
    const auto rounds = static_cast<long>(step_sizes.size());
    if (mixing.symmetric() && factor.kind != TemporalFactor::Kind::dense) {
        const SymmetricEigen eigen = symmetric_eigen(mixing.dense());
        const VectorXd gains =
            mode_gains(lagged_noise(factor, rounds, static_cast<int>(factor.lower.cols())),
                       powers_of(eigen.values, gossip_steps),
                       step_sizes);
        return eigen.vectors * gains.asDiagonal() * eigen.vectors.transpose();
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
    return spatial_utility(mixing, inverse * inverse.transpose(), step_sizes, gossip_steps);
}

MatrixXd spatial_utility(const MixingMatrix& mixing,
                         const MatrixXd& inverse_gram,
                         std::span<const double> step_sizes,
                         int gossip_steps) {
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
        const SymmetricEigen eigen = symmetric_eigen(mixing.dense());
        const VectorXd values = powers_of(eigen.values, gossip_steps);
        MatrixXd vandermonde(rounds, values.size());
        vandermonde.row(0) = values.transpose();
        for (Index k = 1; k < rounds; ++k)
            vandermonde.row(k) = vandermonde.row(k - 1).cwiseProduct(values.transpose());
        const VectorXd gains =
            (coefficients * vandermonde).cwiseProduct(vandermonde).colwise().sum();
        return eigen.vectors * gains.asDiagonal() * eigen.vectors.transpose();
    }
    const Index n = mixing.agents();
    const MatrixXd combined =
        propagated(mixing, MatrixXd::Identity(n, n), rounds, gossip_steps) * root_of(coefficients);
    MatrixXd result = MatrixXd::Zero(n, n);
    for (Index j = 0; j < combined.cols(); ++j) add_gram(combined.col(j).reshaped(n, n), result);
    return result.selfadjointView<Eigen::Lower>();
}

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
    TemporalSolution solution;
    const FreeEntries free(rounds, cycle, options);
    if (cycle >= rounds && free.patterns_only()) {
        // One participation: the diagonal alone is fixed, which is the spatial problem.
        SpatialOptions spatial;
        spatial.relative_gap = options.relative_gap;
        const SpatialSolution same =
            solve_spatial_covariance(utility, VectorXd::Ones(rounds), spatial);
        MatrixXd covariance = same.covariance;
        solution.gram = MatrixXd::Identity(rounds, rounds);
        if (!solve_positive_definite(covariance, solution.gram))
            throw ConfigError("temporal factor: numerically singular; use fewer rounds");
        solution.gram = (0.5 * (solution.gram + solution.gram.transpose())).eval();
        const VectorXd unit = solution.gram.diagonal().cwiseSqrt().cwiseInverse();
        solution.gram = (unit.asDiagonal() * solution.gram * unit.asDiagonal()).eval();
        solution.gram.diagonal().setOnes();
        solution.value = value_of(root, solution.gram);
        solution.lower_bound = same.lower_bound;
        solution.iterations = same.iterations;
        return solution;
    }
    if (free.count() > 0) {
        const double scale = 1 / utility.trace();
        Objective objective(root, free, scale);
        LBFGSpp::LBFGSParam<double> parameters;
        parameters.m = 20;
        parameters.epsilon = 0;
        parameters.epsilon_rel = 0;
        parameters.max_iterations = 200;
        parameters.past = 10;
        parameters.delta = 1e-11;
        parameters.max_linesearch = 60;
        // The objective is convex: every step has curvature of the right sign.
        parameters.linesearch = LBFGSpp::LBFGS_LINESEARCH_BACKTRACKING_ARMIJO;
        LBFGSpp::LBFGSSolver<double> solver(parameters);
        // In legs, so that the certificate, which costs an eigendecomposition, is seldom computed.
        for (double before = infinity; objective.evaluations() < options.max_iterations;) {
            VectorXd entries = objective.best();
            double value = 0;
            try {
                solver.minimize(objective, entries, value);
            } catch (const std::runtime_error&) {
                // No descent left within rounding; the best point is kept.
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
        solution.iterations = objective.evaluations();
        return solution;
    }
    solution.gram = MatrixXd::Identity(rounds, rounds);
    solution.value = utility.trace();
    solution.lower_bound = solution.value;
    return solution;
}

MatrixXd temporal_factor_of(const MatrixXd& gram) {
    const MatrixXd reversed = gram.reverse();
    const Eigen::LLT<MatrixXd> cholesky(reversed);
    if (cholesky.info() != Eigen::Success)
        throw ConfigError("temporal factor: its Gram matrix is not positive definite");
    const MatrixXd lower = cholesky.matrixL();
    return lower.transpose().reverse();
}

}  // namespace sotto
