#pragma once

#include <memory>

#include "sotto/learn/objective.hpp"

namespace sotto {

/// Quadratic of [W] eq. 11, d = 2, agent index i = agent+1 of n:
/// i <= n/2: 15 (x1 + i)^2 + x2^2; otherwise 15 u1^2 + u2^2 with u = Rotation(15 degrees) (x - (i,
/// 0)). One "record" (the function itself); no test set, no accuracy; test_loss is the same
/// function.
[[nodiscard]] std::unique_ptr<Objective> make_quadratic_objective(int agent, int agents);

}  // namespace sotto
