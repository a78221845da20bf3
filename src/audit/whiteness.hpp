#pragma once

#include <Eigen/Dense>

namespace sotto {

inline constexpr long fewest_white_samples = 100;

/// Whether vectors are what independent standard normal variables would be.
struct WhitenessFigures {
    long samples = 0;
    long dimensions = 0;
    double variance = 1;  ///< mean square of all values; 1 if white
    /// Largest sample correlation of two dimensions, in standard deviations of what chance does.
    double largest_correlation = 0;
    double p_value = 1;  ///< how often white noise looks as bad
};

/// @param values dimensions x samples, the samples independent. Two tests: the sum of squares
/// (chi-squared), and the largest entry of the sample covariance (chi-squared on the diagonal,
/// normal off it, times their number). p_value is twice the smaller of their p-values.
/// @throws ConfigError for fewer than fewest_white_samples. Cost O(dimensions^2 samples).
[[nodiscard]] WhitenessFigures test_whiteness(const Eigen::MatrixXd& values);

}  // namespace sotto
