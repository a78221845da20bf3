#include "commands/account/account_result.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "sotto/core/numbers.hpp"

namespace sotto {

namespace {

std::vector<DistanceRow> rows_by_distance(const std::vector<PairFigure>& pairs) {
    std::map<int, DistanceRow> rows;
    for (const PairFigure& pair : pairs) {
        if (pair.distance < 0) continue;
        const double epsilon = pair.guarantee.epsilon;
        DistanceRow& row = rows[pair.distance];
        if (row.pairs == 0) {
            row = {pair.distance, 0, 0, epsilon, 0, 0, 0, {}};
            for (const auto& published : pair.published)
                row.published.push_back(published ? std::optional(0.0) : std::nullopt);
        }
        ++row.pairs;
        if (std::isinf(epsilon)) ++row.infinite;
        row.min = std::min(row.min, epsilon);
        row.max = std::max(row.max, epsilon);
        row.mean += epsilon;
        row.ldp += pair.eavesdropper_epsilon;
        for (std::size_t i = 0; i < row.published.size(); ++i)
            if (row.published[i]) *row.published[i] += pair.published[i].value_or(not_a_number);
    }
    std::vector<DistanceRow> result;
    for (auto& [distance, row] : rows) {
        row.mean /= row.pairs;
        row.ldp /= row.pairs;
        for (auto& published : row.published)
            if (published) *published /= row.pairs;
        result.push_back(row);
    }
    return result;
}

}  // namespace

bool AccountResult::breaks_protection() const {
    return !pairs.empty() && pairs.front().guarantee.infinite();
}

bool AccountResult::is_guarantee() const { return pairs.empty() || pairs.front().argument.sound; }

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
