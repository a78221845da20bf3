#include "views/tight_sensitivity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <vector>

#include "core/linear_algebra.hpp"
#include "core/numbers.hpp"
#include "core/seeded_random.hpp"
#include "sotto/core/error.hpp"

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

namespace {

using Eigen::MatrixXd;

constexpr double nothing_negative = 1e-13;  // relative to the sum of absolute values

}  // namespace

SquaredSensitivity bounded_gram_sensitivity(const MatrixXd& gram,
                                            std::span<const long> training_rounds,
                                            const Participation& participation,
                                            double tight_gap,
                                            double known_upper) {
    SquaredSensitivity result;
    result.trivial = infinity;
    struct Pattern {
        MatrixXd gram;
        double sum, abs_sum;
    };
    std::vector<Pattern> patterns;
    for (const auto& chosen : participation_patterns(training_rounds, participation)) {
        Pattern pattern{
            std::ssize(chosen) == gram.rows() ? gram : MatrixXd(gram(chosen, chosen)), 0, 0};
        pattern.sum = pattern.gram.sum();
        pattern.abs_sum = pattern.gram.cwiseAbs().sum();
        result.constant_sign = std::max(result.constant_sign, pattern.sum);
        result.abs_sum = std::max(result.abs_sum, pattern.abs_sum);
        patterns.push_back(std::move(pattern));
    }
    // Patterns that cannot exceed another's lower bound are skipped.
    std::sort(patterns.begin(), patterns.end(), [](const Pattern& a, const Pattern& b) {
        return a.abs_sum > b.abs_sum;
    });
    for (const Pattern& pattern : patterns) {
        const double most = std::min(known_upper, pattern.abs_sum);
        if (most <= result.tight_lower) continue;
        TightBounds bounds{pattern.sum, most};
        if (pattern.abs_sum - pattern.sum > nothing_negative * pattern.abs_sum)
            bounds = tight_bounds(pattern.gram, tight_gap, most);
        result.tight_lower = std::max(result.tight_lower, bounds.lower);
        result.tight_upper = std::max(result.tight_upper, bounds.upper);
    }
    return result;
}

SquaredSensitivity gram_sensitivity(const Eigen::MatrixXd& gram,
                                    const Participation& participation,
                                    double tight_gap,
                                    std::span<const long> training_rounds) {
    if (gram.rows() != gram.cols())
        throw ConfigError(fmt::format(
            "Gram matrix: {} x {} is not allowed (must be square)", gram.rows(), gram.cols()));
    if (participation.cycle < 1)
        throw ConfigError(fmt::format(
            "participation: a cycle of {} rounds is not allowed (1 or more)", participation.cycle));
    if (!gram.allFinite()) throw DataError("Gram matrix: a value is not finite");
    std::vector<long> numbers(training_rounds.begin(), training_rounds.end());
    if (numbers.empty()) {
        numbers.resize(static_cast<std::size_t>(gram.rows()));
        std::iota(numbers.begin(), numbers.end(), 0);
    }
    if (std::ssize(numbers) != gram.rows())
        throw ConfigError(fmt::format("Gram matrix: {} training rounds are given, it has {} rows",
                                      numbers.size(),
                                      gram.rows()));
    for (const long round : numbers)
        if (round < 0)
            throw ConfigError(
                fmt::format("Gram matrix: training round {} is not allowed (0 or more)", round));
    return bounded_gram_sensitivity(gram, numbers, participation, tight_gap, infinity);
}

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Signs with equal values must not be chosen by rounding, which differs between machines.
constexpr double sign_rounding = 1e-9;

/// Flips signs of `rounds`, one at a time, while s^T gram s grows.
double ascend(const MatrixXd& gram, const std::vector<Index>& rounds, VectorXd& signs) {
    VectorXd pull = gram * signs;
    for (bool changed = true; changed;) {
        changed = false;
        for (const Index t : rounds) {
            const double others = pull(t) - gram(t, t) * signs(t);
            const double better = others < 0 ? -1.0 : 1.0;
            if (better == signs(t) || std::abs(others) <= sign_rounding * gram(t, t)) continue;
            pull += (better - signs(t)) * gram.col(t);
            signs(t) = better;
            changed = true;
        }
    }
    return signs.dot(pull);
}

}  // namespace

VectorXd worst_signs(const MatrixXd& gram, const Participation& participation) {
    const Index rounds = gram.rows();
    VectorXd best = VectorXd::Zero(rounds);
    double most = -1;
    constexpr int random_starts = 8;
    for (Index first = 0; first < std::min<Index>(participation.cycle, rounds); ++first) {
        std::vector<Index> mine;
        for (Index t = first; t < rounds; t += participation.cycle) mine.push_back(t);
        SeededRandom random(0, "worst signs", static_cast<std::uint64_t>(first));
        for (int start = 0; start < 2 + random_starts; ++start) {
            VectorXd signs = VectorXd::Zero(rounds);
            for (std::size_t i = 0; i < mine.size(); ++i)
                signs(mine[i]) = start == 0   ? 1
                                 : start == 1 ? (i % 2 == 0 ? 1 : -1)
                                              : (random.below(2) == 0 ? 1 : -1);
            const double value = ascend(gram, mine, signs);
            if (value > most * (1 + sign_rounding)) {
                most = value;
                best = signs;
            }
        }
    }
    return best;
}

std::vector<std::vector<Eigen::Index>> participation_patterns(std::span<const long> training_rounds,
                                                              const Participation& participation) {
    const long most = training_rounds.empty() ? 0 : std::ranges::max(training_rounds);
    const long cycle = std::min(participation.cycle, most + 1);
    std::vector<std::vector<Eigen::Index>> patterns(static_cast<std::size_t>(cycle));
    for (std::size_t t = 0; t < training_rounds.size(); ++t)
        patterns[static_cast<std::size_t>(training_rounds[t] % cycle)].push_back(
            static_cast<Eigen::Index>(t));
    return patterns;
}

}  // namespace sotto
