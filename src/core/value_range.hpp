#pragma once

#include <Eigen/Dense>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>

namespace sotto {

/// A norm that may exceed the range of doubles: value 2^exponent.
struct RangedNorm {
    double value = 0;
    int exponent = 0;  ///< 0 unless squares or sums would overflow or underflow
    [[nodiscard]] bool longer_than(double limit) const {
        return value > std::ldexp(limit, -exponent);
    }
};

/// L1 or L2 norm of finite values of any magnitude. If the exponent is not 0, the values are
/// multiplied by 2^-exponent, to match `value`.
/// @return nothing, with unchanged values, if a value is not finite. Cost: one pass; three if the
/// exponent is not 0.
[[nodiscard]] std::optional<RangedNorm> ranged_norm(Eigen::Ref<Eigen::VectorXd> values, bool l1);

/// Clamps every value to [-limit, limit]; NaN becomes 0. It never increases the distance of two
/// vectors, in any norm.
/// @return how many were changed.
std::size_t limit_values(std::span<double> values, double limit);

/// Index of the first value outside [-limit, limit]; nothing if there is none. NaN is outside.
[[nodiscard]] std::optional<std::size_t> first_beyond(std::span<const double> values, double limit);

}  // namespace sotto
