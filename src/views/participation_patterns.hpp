#pragma once

#include <Eigen/Dense>
#include <span>
#include <vector>

#include "sotto/privacy/budget.hpp"

namespace sotto {

/// The rounds in which somebody can take part, of every pattern: those whose training rounds are
/// first, first + cycle, ...
[[nodiscard]] std::vector<std::vector<Eigen::Index>> participation_patterns(
    std::span<const long> training_rounds, const Participation& participation);

}  // namespace sotto
