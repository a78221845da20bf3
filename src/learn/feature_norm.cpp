#include "learn/feature_norm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "sotto/core/error.hpp"

namespace sotto {

namespace {

/// Length of a record as size * ratio, size its largest value, which cannot overflow.
struct FeatureLength {
    double size = 0, ratio = 0;
    /// An upper bound on the relative error of both and of a product with a factor.
    double error = 0;
    [[nodiscard]] double value() const { return size * ratio; }
};

FeatureLength length_of(std::span<const double> values) {
    FeatureLength length;
    for (const double value : values) {
        if (!std::isfinite(value)) return {value, 1, 0};
        length.size = std::max(length.size, std::abs(value));
    }
    length.error =
        4 * static_cast<double>(values.size() + 16) * (std::numeric_limits<double>::epsilon() / 2);
    if (length.size == 0) return length;
    double squares = 0;
    for (const double value : values) squares += (value / length.size) * (value / length.size);
    length.ratio = std::sqrt(squares);
    return length;
}

std::span<double> values_of(SparseRows& features, Eigen::Index row) {
    const auto first = static_cast<std::size_t>(features.outerIndexPtr()[row]);
    const auto last = static_cast<std::size_t>(features.outerIndexPtr()[row + 1]);
    return {features.valuePtr() + first, last - first};
}

}  // namespace

double longest_record(const Dataset& data) {
    Dataset sparse = with_sparse_features(data);
    sparse.features.makeCompressed();
    double longest = 1;
    for (Eigen::Index row = 0; row < sparse.records(); ++row) {
        const FeatureLength length = length_of(values_of(sparse.features, row));
        const double norm = std::hypot(length.value(), 1) * (1 + length.error);
        if (!std::isfinite(norm)) return std::numeric_limits<double>::infinity();
        longest = std::max(longest, norm);
    }
    return longest;
}

Dataset with_feature_norm(Dataset data, double norm) {
    if (!(std::isfinite(norm) && norm > 1))
        throw ConfigError(fmt::format(
            "feature-norm: {:g} is not allowed (must be above 1, the length of the constant "
            "feature that belongs to the bias)",
            norm));
    data = with_sparse_features(std::move(data));
    data.features.makeCompressed();
    const double most = std::sqrt((norm - 1) * (norm + 1));
    for (Eigen::Index row = 0; row < data.records(); ++row) {
        const std::span<double> values = values_of(data.features, row);
        const FeatureLength length = length_of(values);
        if (!std::isfinite(length.size)) continue;
        // longest_record, which rounds up, finds no more than the norm.
        const double allowed = most * (1 - 4 * length.error * norm * norm / (most * most));
        if (length.size == 0 || length.size <= allowed / length.ratio) continue;
        const double ratio = std::max(allowed, 0.0) / length.ratio;
        for (double& value : values) value = value / length.size * ratio;
    }
    return data;
}

}  // namespace sotto
