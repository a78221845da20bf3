#include "sotto/views/squared_sensitivity.hpp"

#include <algorithm>
#include <cmath>

#include "sotto/core/numbers.hpp"

namespace sotto {

namespace {}  // namespace

SquaredSensitivity SquaredSensitivity::unbounded() {
    return {true, infinity, infinity, infinity, infinity, infinity};
}

SquaredSensitivity SquaredSensitivity::all_messages(double trivial) {
    return {std::isinf(trivial), infinity, infinity, infinity, infinity, trivial};
}

double SquaredSensitivity::certified() const {
    if (infinite) return infinity;
    return std::min({tight_upper, abs_sum, trivial});
}

}  // namespace sotto
