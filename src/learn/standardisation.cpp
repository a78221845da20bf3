#include "learn/standardisation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <variant>

#include "sotto/core/error.hpp"

namespace sotto {

namespace {

struct Moments {
    double mean = 0, deviation = 1;
};

/// Of value(row), without NaN.
template <class Value>
Moments moments_of(std::span<const Eigen::Index> rows, const Value& value) {
    const auto count = static_cast<double>(std::ranges::count_if(
        rows, [&](const Eigen::Index row) { return !std::isnan(value(row)); }));
    if (count == 0) return {};
    Moments moments;
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

Standardisation no_standardisation(Eigen::Index features) {
    return {Eigen::VectorXd::Zero(features), Eigen::VectorXd::Ones(features)};
}

Standardisation standardisation_of(const Dataset& data,
                                   std::span<const Eigen::Index> rows,
                                   const std::vector<bool>& numbers) {
    const auto& table = std::get<RealRows>(data.dense.value());
    Standardisation scaling = no_standardisation(table.cols());
    for (Eigen::Index k = 0; k < table.cols(); ++k) {
        if (!numbers[static_cast<std::size_t>(k)]) continue;
        const Moments moments =
            moments_of(rows, [&](const Eigen::Index row) { return table(row, k); });
        scaling.feature_mean(k) = moments.mean;
        scaling.feature_deviation(k) = moments.deviation;
    }
    if (data.target == Target::value) {
        const Moments moments =
            moments_of(rows, [&](const Eigen::Index row) { return data.labels[row]; });
        scaling.target_mean = moments.mean;
        scaling.target_deviation = moments.deviation;
    }
    return scaling;
}

Dataset standardised(Dataset data, const Standardisation& scaling) {
    auto& table = std::get<RealRows>(data.dense.value());
    if (table.cols() != scaling.feature_mean.size())
        throw DataError(fmt::format("{}: {} features; the training data have {}",
                                    data.source,
                                    table.cols(),
                                    scaling.feature_mean.size()));
    table.rowwise() -= scaling.feature_mean.transpose();
    table.array().rowwise() /= scaling.feature_deviation.transpose().array();
    table = table.unaryExpr([&](double value) {
        return std::isnan(value) ? 0.0 : std::clamp(value, -scaling.limit, scaling.limit);
    });
    if (data.target == Target::value) {
        data.labels = (data.labels.array() - scaling.target_mean) / scaling.target_deviation;
        data.labels = data.labels.cwiseMax(-scaling.limit).cwiseMin(scaling.limit);
    }
    return data;
}

}  // namespace sotto
