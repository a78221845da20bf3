#include "account/account_result.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "core/numbers.hpp"

namespace sotto {

namespace {

using FigureOf = double (*)(const Guarantee&);

double epsilon_of(const Guarantee& guarantee) { return guarantee.epsilon; }

/// @param pairs of one distance, not empty.
DistanceFigures figures_of(const std::vector<const PairFigure*>& pairs, FigureOf figure) {
    DistanceFigures figures;
    figures.min = figures.max = figure(pairs.front()->guarantee);
    for (const auto& published : pairs.front()->published)
        figures.published.push_back(published ? std::optional(0.0) : std::nullopt);
    const auto count = static_cast<double>(pairs.size());
    for (const PairFigure* pair : pairs) {
        const double value = figure(pair->guarantee);
        figures.min = std::min(figures.min, value);
        figures.max = std::max(figures.max, value);
        figures.mean += value / count;
        figures.ldp += figure(pair->eavesdropper) / count;
        for (std::size_t i = 0; i < figures.published.size(); ++i)
            if (figures.published[i])
                *figures.published[i] +=
                    (pair->published[i] ? figure(*pair->published[i]) : not_a_number) / count;
    }
    return figures;
}

std::vector<DistanceRow> rows_by_distance(const std::vector<PairFigure>& pairs) {
    std::map<int, std::vector<const PairFigure*>> by_distance;
    for (const PairFigure& pair : pairs)
        if (pair.distance >= 0) by_distance[pair.distance].push_back(&pair);
    std::vector<DistanceRow> rows;
    for (const auto& [distance, of_distance] : by_distance) {
        const auto infinite = std::ranges::count_if(of_distance, [](const PairFigure* pair) {
            return std::isinf(pair->guarantee.epsilon);
        });
        rows.push_back({distance,
                        static_cast<int>(of_distance.size()),
                        static_cast<int>(infinite),
                        figures_of(of_distance, epsilon_of),
                        figures_of(of_distance, renyi_of_order_two)});
    }
    return rows;
}

}  // namespace

double renyi_of_order_two(const Guarantee& guarantee) {
    const std::optional<double> mu = guarantee.loss.mu();
    return mu ? *mu * *mu : not_a_number;
}

bool AccountResult::breaks_protection() const {
    return !pairs.empty() && pairs.front().guarantee.infinite();
}

bool AccountResult::is_guarantee() const { return pairs.empty() || pairs.front().argument.sound; }

bool AccountResult::has_renyi() const {
    return !by_distance.empty() && std::ranges::none_of(by_distance, [](const DistanceRow& row) {
        return std::isnan(row.renyi.mean);
    });
}

bool AccountResult::has_published(std::size_t bound) const {
    return std::ranges::any_of(pairs, [&](const PairFigure& pair) {
        return bound < pair.published.size() && pair.published[bound].has_value();
    });
}

AccountResult account_of_pairs(std::string view, std::vector<PairFigure> pairs) {
    AccountResult result;
    result.view = std::move(view);
    result.pairs = std::move(pairs);
    std::ranges::stable_sort(result.pairs, [](const PairFigure& a, const PairFigure& b) {
        return b.guarantee < a.guarantee;
    });
    result.by_distance = rows_by_distance(result.pairs);
    double sum = 0;
    for (const PairFigure& pair : result.pairs) sum += pair.guarantee.epsilon;
    result.mean_epsilon = result.pairs.empty() ? 0 : sum / static_cast<double>(result.pairs.size());
    return result;
}

}  // namespace sotto
