#pragma once

#include <vector>

#include "hostile/deviation.hpp"

namespace sotto::test {

/// What an agent says and does once training has begun.
[[nodiscard]] std::vector<Deviation> deviations_in_rounds();
/// The same beneath encryption: other bytes than its own program would send.
[[nodiscard]] std::vector<Deviation> deviations_on_the_wire();
/// Before the first round.
[[nodiscard]] std::vector<Deviation> deviations_in_bootstrap();

}  // namespace sotto::test
