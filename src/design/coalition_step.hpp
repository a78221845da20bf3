#pragma once

#include "design/coalition_point.hpp"

namespace sotto {

struct CoalitionStep {
    double length = 0;     ///< share of the full step that was taken; 0 if none was possible
    CoalitionPoint point;  ///< after it; empty if none was possible
};

/// One primal-dual Newton step towards products of slacks and multipliers of `target`.
/// Cost: with N unknowns and m constraints O(m N^2 + N^3).
[[nodiscard]] CoalitionStep take_step(const CoalitionProblem& problem,
                                      const CoalitionPoint& point,
                                      double target);

}  // namespace sotto
