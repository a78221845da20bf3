#include "audit/whiteness.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/normal.hpp>
#include <cmath>

#include "sotto/core/error.hpp"
#include "sotto/core/linear_algebra.hpp"

namespace sotto {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;

namespace math = boost::math;

double chi_squared_p_value(double total, double freedom) {
    const math::chi_squared chi(freedom);
    return 2 * std::min(math::cdf(chi, total), math::cdf(math::complement(chi, total)));
}

double largest_off_diagonal(const MatrixXd& covariance, double samples) {
    double largest = 0;
    for (Index j = 0; j < covariance.cols(); ++j)
        for (Index i = j + 1; i < covariance.rows(); ++i)
            largest = std::max(largest, std::abs(covariance(i, j)) / std::sqrt(samples));
    return largest;
}

}  // namespace

WhitenessFigures test_whiteness(const MatrixXd& values) {
    const Index dimensions = values.rows(), samples = values.cols();
    if (samples < fewest_white_samples)
        throw ConfigError(
            fmt::format("samples: {} are not enough ({} or more)", samples, fewest_white_samples));
    WhitenessFigures result;
    result.samples = samples;
    result.dimensions = dimensions;
    if (dimensions == 0) return result;
    const auto n = static_cast<double>(samples), p = static_cast<double>(dimensions);
    MatrixXd covariance = MatrixXd::Zero(dimensions, dimensions);
    add_product(1, values, false, values, true, covariance);
    result.variance = covariance.trace() / (n * p);
    result.largest_correlation = largest_off_diagonal(covariance, n);
    const double p_variance = chi_squared_p_value(covariance.trace(), n * p);
    double p_entry = 1;
    for (Index i = 0; i < dimensions; ++i)
        p_entry = std::min(p_entry, chi_squared_p_value(covariance(i, i), n));
    p_entry = std::min(p_entry,
                       2 * math::cdf(math::complement(math::normal(), result.largest_correlation)));
    result.p_value = std::min(1.0, 2 * std::min(p_variance, p_entry * p * (p + 1) / 2));
    return result;
}

}  // namespace sotto
