#include "sotto/learn/standardisation.hpp"

#include <fmt/format.h>

#include <cmath>
#include <variant>

#include "sotto/core/error.hpp"

namespace sotto {

Standardisation standardisation_of(const Dataset& data, std::span<const Eigen::Index> rows) {
    const auto& table = std::get<RealRows>(data.dense.value());
    const auto count = static_cast<double>(rows.size());
    // A column that is constant but for the rounding of its mean stays constant.
    const auto deviation = [&](double squares, double mean) {
        const double result = std::sqrt(squares / count);
        return result > 1e-12 * std::abs(mean) ? result : 1.0;
    };
    Standardisation moments;
    moments.feature_mean.setZero(table.cols());
    Eigen::VectorXd squares = moments.feature_mean;
    for (const Eigen::Index row : rows) {
        moments.feature_mean += table.row(row).transpose() / count;
        moments.target_mean += data.labels[row] / count;
    }
    double target_squares = 0;
    for (const Eigen::Index row : rows) {
        squares += (table.row(row).transpose() - moments.feature_mean).cwiseAbs2();
        const double offset = data.labels[row] - moments.target_mean;
        target_squares += offset * offset;
    }
    moments.feature_deviation = squares.binaryExpr(moments.feature_mean, deviation);
    moments.target_deviation = deviation(target_squares, moments.target_mean);
    return moments;
}

Dataset standardised(Dataset data, const Standardisation& moments) {
    auto& table = std::get<RealRows>(data.dense.value());
    if (table.cols() != moments.feature_mean.size())
        throw DataError(fmt::format("{}: {} features; the training data have {}",
                                    data.source,
                                    table.cols(),
                                    moments.feature_mean.size()));
    table.rowwise() -= moments.feature_mean.transpose();
    table.array().rowwise() /= moments.feature_deviation.transpose().array();
    if (data.target == Target::value)
        data.labels = (data.labels.array() - moments.target_mean) / moments.target_deviation;
    return data;
}

}  // namespace sotto
