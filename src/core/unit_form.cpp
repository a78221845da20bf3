#include "core/unit_form.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/linear_algebra.hpp"
#include "core/numbers.hpp"
#include "core/seeded_random.hpp"

namespace sotto {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr Index eigenvalues_up_to = 64;  // larger matrices use a Cholesky factorisation

/// Frequency whose plane wave has the largest sum over all pairs of rounds.
double best_frequency(const MatrixXd& gram) {
    const Index n = gram.rows();
    VectorXd lag(n);
    for (Index l = 0; l < n; ++l) lag(l) = gram.diagonal(l).sum();
    double best = -infinity, frequency = 0;
    const Index candidates = 2 * n;
    for (Index i = 0; i <= candidates; ++i) {
        const double angle =
            std::numbers::pi * static_cast<double>(i) / static_cast<double>(candidates);
        // Chebyshev recurrence for cos(l angle).
        double before = 1, now = std::cos(angle), sum = lag(0);
        const double twice = 2 * now;
        for (Index l = 1; l < n; ++l) {
            sum += 2 * lag(l) * now;
            const double next = twice * now - before;
            before = now;
            now = next;
        }
        if (sum > best) {
            best = sum;
            frequency = angle;
        }
    }
    return frequency;
}

/// Unit vectors in the columns: a plane wave plus a small part in every direction.
MatrixXd first_vectors(const MatrixXd& gram, Index dimension) {
    const double frequency = best_frequency(gram);
    SeededRandom random(1, "tight sensitivity");
    MatrixXd vectors(dimension, gram.rows());
    for (double& value : vectors.reshaped()) value = 0.03 * random.normal();
    for (Index t = 0; t < gram.rows(); ++t) {
        vectors(0, t) += std::cos(frequency * static_cast<double>(t));
        vectors(1, t) += std::sin(frequency * static_cast<double>(t));
        vectors.col(t).normalize();
    }
    return vectors;
}

void sweep(const MatrixXd& gram, MatrixXd& vectors) {
    VectorXd pull(vectors.rows());
    for (Index t = 0; t < gram.rows(); ++t) {
        pull.noalias() = vectors * gram.col(t);
        pull -= gram(t, t) * vectors.col(t);
        const double length = pull.norm();
        if (length > 0) vectors.col(t) = pull / length;
    }
}

/// sum y + n max(0, -lambda_min(Diag y - gram)), or infinity if only a factorisation was tried and
/// `slack` was too small.
double dual_bound(const MatrixXd& gram, const VectorXd& y, double slack, bool exact) {
    const auto n = static_cast<double>(gram.rows());
    MatrixXd dual = -gram;
    dual.diagonal() += y;
    if (exact || gram.rows() <= eigenvalues_up_to) {
        // Eigenvalues have a rounding error relative to the largest.
        const VectorXd values = symmetric_eigenvalues(dual);
        const double error = 1e-15 * n * std::max(std::abs(values(0)), values(gram.rows() - 1));
        return y.sum() + n * (std::max(0.0, -values(0)) + (values(0) < 0 ? error : 0.0));
    }
    dual.diagonal().array() += slack;
    const Eigen::LLT<Eigen::Ref<MatrixXd>> factor(dual);
    return factor.info() == Eigen::Success ? y.sum() + n * slack : infinity;
}

}  // namespace

TightBounds tight_bounds(const MatrixXd& gram, double relative_gap, double known_upper) {
    const Index n = gram.rows();
    TightBounds bounds;
    bounds.upper = std::min(known_upper, gram.cwiseAbs().sum());
    bounds.lower = std::max(gram.sum(), gram.trace());
    const auto enough = [&] { return bounds.upper <= bounds.lower * (1 + relative_gap); };
    if (n == 0 || bounds.upper == 0) return bounds;
    const auto full = static_cast<Index>(std::ceil(std::sqrt(2.0 * static_cast<double>(n)))) + 1;
    MatrixXd vectors = first_vectors(gram, std::min<Index>(full, 12));
    const int most = n <= 200 ? 4096 : 512;
    int done = 0;
    for (int until = 4; !enough() && until <= most; until *= 2) {
        for (; done < until; ++done) sweep(gram, vectors);
        const VectorXd y = vectors.cwiseProduct(vectors * gram).colwise().sum().transpose();
        bounds.lower = std::max(bounds.lower, y.sum());
        const double slack = 0.5 * relative_gap * y.sum() / static_cast<double>(n);
        bounds.upper = std::min(bounds.upper, dual_bound(gram, y, slack, 2 * until > most));
        if (until == 64 && vectors.rows() < full) {
            SeededRandom random(2, "tight sensitivity");
            MatrixXd more(full, n);
            for (double& value : more.reshaped()) value = 1e-3 * random.normal();
            more.topRows(vectors.rows()) += vectors;
            more.colwise().normalize();
            vectors = std::move(more);
        }
    }
    bounds.lower = std::min(bounds.lower, bounds.upper);
    return bounds;
}

}  // namespace sotto
