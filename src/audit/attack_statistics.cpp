#include "audit/attack_statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/beta.hpp>
#include <cmath>
#include <vector>

#include "audit/confidence.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/names.hpp"

namespace sotto {

namespace {

using Eigen::Index;
using Eigen::VectorXd;

namespace math = boost::math;

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

void require_trials(const VectorXd& scores, const VectorXd& signs) {
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
}

/// mu and its interval; nothing else yet.
AttackFigures gaussian_figures(const VectorXd& scores, const VectorXd& signs, double level) {
    const Index n = scores.size();
    const auto plus = static_cast<double>((signs.array() == 1).count());
    const auto minus = static_cast<double>((signs.array() == -1).count());
    const Eigen::ArrayXd is_plus = (signs.array() > 0).cast<double>();
    const double mean_plus = (scores.array() * is_plus).sum() / plus;
    const double mean_minus = (scores.array() * (1 - is_plus)).sum() / minus;
    const Eigen::ArrayXd centred =
        scores.array() - is_plus * mean_plus - (1 - is_plus) * mean_minus;
    const double deviation =
        std::sqrt(centred.square().sum() / static_cast<double>(std::max<Index>(1, n - 2)));
    AttackFigures result;
    result.trials = n;
    result.mu = (mean_plus - mean_minus) / deviation;
    const double error =
        two_sided_z(level) *
        std::sqrt(1 / plus + 1 / minus + result.mu * result.mu / (2 * static_cast<double>(n)));
    result.lower = result.mu - error;
    result.upper = result.mu + error;
    return result;
}

Counts count_errors(const Eigen::Ref<const VectorXd>& scores,
                    const Eigen::Ref<const VectorXd>& signs,
                    double threshold) {
    Counts counts;
    for (Index i = 0; i < scores.size(); ++i) {
        const bool above = scores(i) > threshold;
        if (signs(i) > 0) {
            ++counts.plus;
            if (!above) ++counts.below_plus;
        } else {
            ++counts.minus;
            if (above) ++counts.above_minus;
        }
    }
    return counts;
}

}  // namespace

double rate_at_most(long hits, long trials, double risk) {
    if (hits >= trials) return 1;
    return math::quantile(
        math::complement(math::beta_distribution<>(static_cast<double>(hits) + 1,
                                                   static_cast<double>(trials - hits)),
                         risk));
}

AttackFigures measure_attack(const VectorXd& scores,
                             const VectorXd& signs,
                             double delta,
                             double level) {
    if (!(delta >= 0 && delta < 1))
        throw ConfigError(fmt::format("delta: {} is not allowed (from 0 to below 1)", delta));
    require_trials(scores, signs);
    AttackFigures result = gaussian_figures(scores, signs, level);
    const Index half = scores.size() / 2, rest = scores.size() - half;
    const double risk = 1 - level;
    const double threshold = best_threshold(scores.head(half), signs.head(half), delta, risk);
    result.epsilon_lower =
        epsilon_at_least(count_errors(scores.tail(rest), signs.tail(rest), threshold), delta, risk);
    return result;
}

double trials_for_width(double mu, double width, double level) {
    require_positive("mu", mu);
    require_positive("width", width);
    const double ratio = two_sided_z(level) / width;
    return std::ceil(ratio * ratio * (4 / (mu * mu) + 0.5));
}

}  // namespace sotto
