#include "sotto/design/temporal_solver.hpp"

#include <LBFGS.h>
#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "sotto/core/error.hpp"
#include "sotto/core/linear_algebra.hpp"
#include "sotto/core/numbers.hpp"
#include "sotto/design/spatial_solver.hpp"

namespace sotto {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// The free entries (s, t), s > t and not of one pattern, inside the band, and the matrix
/// they fill.
class FreeEntries {
  public:
    FreeEntries(Index rounds, long cycle, long band)
        : rounds_(rounds), cycle_(cycle), band_(band > 0 ? band : rounds) {
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

/// One participation: the diagonal alone is fixed, which is the spatial problem.
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
    // The objective is convex: every step has curvature of the right sign.
    parameters.linesearch = LBFGSpp::LBFGS_LINESEARCH_BACKTRACKING_ARMIJO;
    return parameters;
}

/// In legs, so that the certificate, which costs an eigendecomposition, is seldom computed.
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

}  // namespace sotto
