#pragma once

#include <Eigen/Dense>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>

namespace sotto {

/// A norm that doubles may not hold: value 2^exponent.
struct RangedNorm {
    double value = 0;
    int exponent = 0;  ///< 0 unless squares or sums would overflow, or be lost
    [[nodiscard]] bool longer_than(double limit) const {
        return value > std::ldexp(limit, -exponent);
    }
};

/// L1 or L2 norm of finite values, however large or small. Where the exponent is not 0 the values
/// themselves are multiplied by 2^-exponent, so that they can be scaled by what follows from
/// `value`.
/// @return nothing if a value is not finite; the values are unchanged then. Cost: one pass; three
/// where the exponent is not 0.
[[nodiscard]] std::optional<RangedNorm> ranged_norm(Eigen::Ref<Eigen::VectorXd> values, bool l1);

/// Brings every value to the nearest one within -limit and limit; what is not a number becomes 0.
/// It never takes two vectors further apart, in any norm. @return how many were changed.
std::size_t limit_values(std::span<double> values, double limit);

/// Place of the first value that is not within -limit and limit; nothing if all are. NaN is not.
[[nodiscard]] std::optional<std::size_t> first_beyond(std::span<const double> values, double limit);

}  // namespace sotto
