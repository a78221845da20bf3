#include "commands/account/account_result.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

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
            if (pair.muffliato_epsilon) row.muffliato = 0;
        }
        ++row.pairs;
        if (std::isinf(epsilon)) ++row.infinite;
        row.min = std::min(row.min, epsilon);
        row.max = std::max(row.max, epsilon);
        row.mean += epsilon;
        row.ldp += pair.eavesdropper_epsilon;
        if (pair.muffliato_epsilon) *row.muffliato += *pair.muffliato_epsilon;
    }
    std::vector<DistanceRow> result;
    for (auto& [distance, row] : rows) {
        row.mean /= row.pairs;
        row.ldp /= row.pairs;
        if (row.muffliato) *row.muffliato /= row.pairs;
        result.push_back(row);
    }
    return result;
}

}  // namespace

bool AccountResult::breaks_protection() const {
    return !pairs.empty() && pairs.front().guarantee.infinite();
}

bool AccountResult::is_guarantee() const { return pairs.empty() || pairs.front().argument.sound; }

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
