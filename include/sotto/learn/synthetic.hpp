#pragma once

#include <Eigen/Dense>
#include <cstdint>

#include "sotto/learn/dataset.hpp"

namespace sotto {

/// Binary data of a9a's shape, for use without any file: 14 one-hot groups over 123 binary features
/// with skewed category frequencies, label from a fixed sparse linear rule plus noise, about 24%
/// positive. Deterministic in (records, seed).
[[nodiscard]] Dataset synthetic_binary(Eigen::Index records, std::uint64_t seed);

/// Points to average, for use without any file: 8 numbers each, independent and uniform from 0 to
/// 1/sqrt(8), so that no point is longer than 1. Labels are 1. Deterministic in (records, seed).
[[nodiscard]] Dataset synthetic_values(Eigen::Index records, std::uint64_t seed);

}  // namespace sotto
