#include "commands/audit/attack_statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/beta.hpp>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <vector>

#include "sotto/core/error.hpp"
#include "sotto/core/linear_algebra.hpp"
#include "sotto/core/names.hpp"

namespace sotto {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace math = boost::math;

/// Largest rate with which `hits` or fewer of `trials` still come up with probability `risk`.
double rate_at_most(long hits, long trials, double risk) {
    if (hits >= trials) return 1;
    return math::quantile(
        math::complement(math::beta_distribution<>(static_cast<double>(hits) + 1,
                                                   static_cast<double>(trials - hits)),
                         risk));
}

struct Counts {
    long above_minus = 0, minus = 0;  ///< false positives
    long below_plus = 0, plus = 0;    ///< false negatives
};

double epsilon_at_least(const Counts& counts, double delta, double risk) {
    // Two rates are bounded: each with half of the risk.
    const double alpha = rate_at_most(counts.above_minus, counts.minus, risk / 2);
    const double beta = rate_at_most(counts.below_plus, counts.plus, risk / 2);
    double epsilon = 0;
    if (1 - delta - alpha > 0) epsilon = std::max(epsilon, std::log((1 - delta - alpha) / beta));
    if (1 - delta - beta > 0) epsilon = std::max(epsilon, std::log((1 - delta - beta) / alpha));
    return epsilon;
}

/// The score above which +1 is guessed, such that the bound on epsilon is largest.
double best_threshold(const Eigen::Ref<const VectorXd>& scores,
                      const Eigen::Ref<const VectorXd>& signs,
                      double delta,
                      double risk) {
    std::vector<std::pair<double, double>> sorted;
    Counts counts;
    for (Index i = 0; i < scores.size(); ++i) {
        sorted.emplace_back(scores(i), signs(i));
        ++(signs(i) > 0 ? counts.plus : counts.minus);
    }
    std::ranges::sort(sorted);
    counts.above_minus = counts.minus;
    // A bound is a few hundred operations: not every score is tried.
    constexpr std::size_t tries = 200;
    const std::size_t stride = std::max<std::size_t>(1, sorted.size() / tries);
    double best = -1, threshold = 0;
    std::size_t next = 0;
    for (std::size_t i = 0; i < sorted.size(); ++i) {
        if (sorted[i].second > 0)
            ++counts.below_plus;
        else
            --counts.above_minus;
        // A threshold is a score, and equal scores are on the same side of it.
        if (i + 1 < sorted.size() && sorted[i + 1].first == sorted[i].first) continue;
        if (i < next) continue;
        next = i + stride;
        const double epsilon = epsilon_at_least(counts, delta, risk);
        if (epsilon <= best) continue;
        best = epsilon;
        threshold = sorted[i].first;
    }
    return threshold;
}

double two_sided_z(double level) {
    return math::quantile(math::complement(math::normal(), (1 - level) / 2));
}

void require_level(double level) {
    if (!(level > 0 && level < 1))
        throw ConfigError(fmt::format("confidence: {} is not allowed (between 0 and 1)", level));
}

}  // namespace

AttackFigures measure_attack(const VectorXd& scores,
                             const VectorXd& signs,
                             double delta,
                             double level) {
    require_level(level);
    if (!(delta >= 0 && delta < 1))
        throw ConfigError(fmt::format("delta: {} is not allowed (from 0 to below 1)", delta));
    const Index n = scores.size(), half = n / 2;
    constexpr long least = 20;
    const auto count = [&](Index first, Index size, double sign) {
        return (signs.segment(first, size).array() == sign).count();
    };
    if (signs.size() != n || std::min({count(0, half, 1),
                                       count(0, half, -1),
                                       count(half, n - half, 1),
                                       count(half, n - half, -1)}) < least)
        throw ConfigError(
            fmt::format("trials: {} scores with {} signs are not enough (at least {} of each sign "
                        "in each half)",
                        n,
                        signs.size(),
                        least));
    AttackFigures result;
    result.trials = n;
    const auto plus = static_cast<double>(count(0, n, 1));
    const auto minus = static_cast<double>(count(0, n, -1));
    const Eigen::ArrayXd is_plus = (signs.array() > 0).cast<double>();
    const double mean_plus = (scores.array() * is_plus).sum() / plus;
    const double mean_minus = (scores.array() * (1 - is_plus)).sum() / minus;
    const Eigen::ArrayXd centred =
        scores.array() - is_plus * mean_plus - (1 - is_plus) * mean_minus;
    const double deviation =
        std::sqrt(centred.square().sum() / static_cast<double>(std::max<Index>(1, n - 2)));
    result.mu = (mean_plus - mean_minus) / deviation;
    const double error =
        two_sided_z(level) *
        std::sqrt(1 / plus + 1 / minus + result.mu * result.mu / (2 * static_cast<double>(n)));
    result.lower = result.mu - error;
    result.upper = result.mu + error;

    const double risk = 1 - level;
    result.threshold = best_threshold(scores.head(half), signs.head(half), delta, risk);
    Counts counts;
    for (Index i = half; i < n; ++i) {
        const bool above = scores(i) > result.threshold;
        if (signs(i) > 0) {
            ++counts.plus;
            if (!above) ++counts.below_plus;
        } else {
            ++counts.minus;
            if (above) ++counts.above_minus;
        }
    }
    result.epsilon_lower = epsilon_at_least(counts, delta, risk);
    return result;
}

double trials_for_width(double mu, double width, double level) {
    require_positive("mu", mu);
    require_positive("width", width);
    require_level(level);
    const double ratio = two_sided_z(level) / width;
    return std::ceil(ratio * ratio * (4 / (mu * mu) + 0.5));
}

WhitenessFigures test_whiteness(const MatrixXd& values) {
    const Index dimensions = values.rows(), samples = values.cols();
    if (samples < 100)
        throw ConfigError(fmt::format("samples: {} are not enough (100 or more)", samples));
    WhitenessFigures result;
    result.samples = samples;
    result.dimensions = dimensions;
    if (dimensions == 0) return result;
    const auto n = static_cast<double>(samples), p = static_cast<double>(dimensions);
    MatrixXd covariance = MatrixXd::Zero(dimensions, dimensions);
    add_product(1, values, false, values, true, covariance);
    result.variance = covariance.trace() / (n * p);
    const auto two_sided = [](double total, double freedom) {
        const math::chi_squared chi(freedom);
        return 2 * std::min(math::cdf(chi, total), math::cdf(math::complement(chi, total)));
    };
    const double p_variance = two_sided(covariance.trace(), n * p);
    double p_entry = 1;
    for (Index i = 0; i < dimensions; ++i)
        p_entry = std::min(p_entry, two_sided(covariance(i, i), n));
    for (Index j = 0; j < dimensions; ++j)
        for (Index i = j + 1; i < dimensions; ++i)
            result.largest_correlation =
                std::max(result.largest_correlation, std::abs(covariance(i, j)) / std::sqrt(n));
    p_entry = std::min(p_entry,
                       2 * math::cdf(math::complement(math::normal(), result.largest_correlation)));
    result.p_value = std::min(1.0, 2 * std::min(p_variance, p_entry * p * (p + 1) / 2));
    return result;
}

}  // namespace sotto
