#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "privacy/private_choice.hpp"

namespace sotto {

/// Source of 64 fair and independent bits.
using RandomBits = std::function<std::uint64_t()>;

/// From the operating system's generator.
[[nodiscard]] std::uint64_t secret_bits();

/// The trainings of a new private choice: their number from its distribution (draw_trainings), and
/// the configuration of each, uniform in {0, ..., configurations - 1}, all independent.
/// @param configurations at least 1.  @param bits a secret source; others are for experiments.
[[nodiscard]] std::vector<std::size_t> draw_configurations(const TrainingCount& count,
                                                           std::size_t configurations,
                                                           const RandomBits& bits = secret_bits);

}  // namespace sotto
