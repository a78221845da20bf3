#include "audit/ranking_statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "audit/confidence.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/numbers.hpp"

namespace sotto {

namespace {

using Eigen::Index;
using Eigen::VectorXd;

std::vector<double> sorted(std::span<const double> values) {
    std::vector<double> result(values.begin(), values.end());
    std::ranges::sort(result);
    return result;
}

/// Share of sorted values below; equal ones count half.
double share_below(const std::vector<double>& values, double score) {
    const auto [first, last] = std::equal_range(values.begin(), values.end(), score);
    const auto below = static_cast<double>(first - values.begin());
    const auto equal = static_cast<double>(last - first);
    return (below + equal / 2) / static_cast<double>(values.size());
}

/// Share of sorted values above.
double share_above(const std::vector<double>& values, double threshold) {
    const auto above = values.end() - std::ranges::upper_bound(values, threshold);
    return static_cast<double>(above) / static_cast<double>(values.size());
}

double mean_variance(const VectorXd& values) {
    const auto count = static_cast<double>(values.size());
    return (values.array() - values.mean()).square().sum() / (count - 1) / count;
}

double advantage_of(const VectorXd& positive, const VectorXd& negative) {
    const auto half = [](const VectorXd& values, bool second) {
        const auto middle = static_cast<std::size_t>(values.size() / 2);
        const std::span<const double> all(values.data(), static_cast<std::size_t>(values.size()));
        return sorted(second ? all.subspan(middle) : all.first(middle));
    };
    const auto first_positive = half(positive, false), first_negative = half(negative, false);
    double best = 0, threshold = infinity;
    for (const double score : first_negative) {
        const double gain = share_above(first_positive, score) - share_above(first_negative, score);
        if (gain <= best) continue;
        best = gain;
        threshold = score;
    }
    return share_above(half(positive, true), threshold) -
           share_above(half(negative, true), threshold);
}

}  // namespace

RankingFigures measure_ranking(const VectorXd& positive, const VectorXd& negative, double level) {
    if (positive.size() < 2 || negative.size() < 2)
        throw ConfigError(fmt::format("scores: {} and {} are not enough (at least 2 of each kind)",
                                      positive.size(),
                                      negative.size()));
    const auto view = [](const VectorXd& values) {
        return std::span<const double>(values.data(), static_cast<std::size_t>(values.size()));
    };
    const auto positives = sorted(view(positive)), negatives = sorted(view(negative));
    VectorXd below(positive.size()), above(negative.size());
    for (Index i = 0; i < below.size(); ++i) below(i) = share_below(negatives, positive(i));
    for (Index j = 0; j < above.size(); ++j) above(j) = 1 - share_below(positives, negative(j));
    RankingFigures result;
    result.auc = below.mean();
    const double width =
        two_sided_z(level) * std::sqrt(mean_variance(below) + mean_variance(above));
    result.lower = std::max(0.0, result.auc - width);
    result.upper = std::min(1.0, result.auc + width);
    result.advantage = advantage_of(positive, negative);
    return result;
}

}  // namespace sotto
