#pragma once

#include <limits>

namespace sotto {

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
inline constexpr double bytes_per_mib = 1024.0 * 1024.0;

}  // namespace sotto
