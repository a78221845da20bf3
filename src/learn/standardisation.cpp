#include "learn/standardisation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <variant>

#include "sotto/core/error.hpp"

namespace sotto {

namespace {

/// Mean and deviation of value(row), without NaN.
template <class Value>
ColumnScaling moments_of(std::span<const Eigen::Index> rows, const Value& value) {
    const auto count = static_cast<double>(std::ranges::count_if(
        rows, [&](const Eigen::Index row) { return !std::isnan(value(row)); }));
    if (count == 0) return {};
    ColumnScaling moments;
    for (const Eigen::Index row : rows)
        if (!std::isnan(value(row))) moments.mean += value(row) / count;
    double squares = 0;
    for (const Eigen::Index row : rows)
        if (!std::isnan(value(row)))
            squares += (value(row) - moments.mean) * (value(row) - moments.mean);
    // A column that is constant up to the rounding of its mean stays constant.
    const double deviation = std::sqrt(squares / count);
    if (deviation > 1e-12 * std::abs(moments.mean)) moments.deviation = deviation;
    return moments;
}

}  // namespace

double ColumnScaling::scaled(double value) const {
    return (std::clamp(value, low, high) - mean) / deviation;
}

Standardisation no_standardisation(Eigen::Index features) {
    return {std::vector<ColumnScaling>(static_cast<std::size_t>(features))};
}

Standardisation standardisation_of(const Dataset& data,
                                   std::span<const Eigen::Index> rows,
                                   const std::vector<bool>& numbers) {
    const auto& table = std::get<RealRows>(data.dense.value());
    Standardisation scaling = no_standardisation(table.cols());
    for (Eigen::Index k = 0; k < table.cols(); ++k) {
        const auto place = static_cast<std::size_t>(k);
        if (numbers[place])
            scaling.features[place] =
                moments_of(rows, [&](const Eigen::Index row) { return table(row, k); });
    }
    if (data.target == Target::value)
        scaling.target = moments_of(rows, [&](const Eigen::Index row) { return data.labels[row]; });
    return scaling;
}

Dataset standardised(Dataset data, const Standardisation& scaling) {
    auto& table = std::get<RealRows>(data.dense.value());
    if (table.cols() != std::ssize(scaling.features))
        throw DataError(fmt::format("{}: {} features; the training data have {}",
                                    data.source,
                                    table.cols(),
                                    scaling.features.size()));
    for (auto row : table.rowwise())
        for (std::size_t k = 0; k < scaling.features.size(); ++k) {
            double& cell = row(static_cast<Eigen::Index>(k));
            cell = std::isnan(cell) ? 0.0 : scaling.features[k].scaled(cell);
        }
    if (data.target == Target::value)
        for (double& value : data.labels) value = scaling.target.scaled(value);
    return data;
}

}  // namespace sotto
