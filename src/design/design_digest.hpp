#pragma once

#include "sotto/core/hash.hpp"
#include "sotto/design/design.hpp"

namespace sotto {

/// Of all that a design depends on, but for what only scales its plan: the smallest kappa and the
/// clip norm. Step sizes count in units of the first. Cost: O(n^2) where M is given, else O(edges +
/// rounds).
[[nodiscard]] Digest design_digest(const DesignInput& input);

}  // namespace sotto
