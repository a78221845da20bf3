#pragma once

#include <cmath>
#include <cstdint>

#include "core/seeded_random.hpp"
#include "privacy/privacy_fixtures.hpp"
#include "sotto/plan/noise_plan.hpp"

namespace sotto::test {

/// Private noise of random sizes, for some agents none, and pairs along a random graph; a fifth of
/// them with coefficients that do not cancel.
inline NoisePlan random_pairs(int agents, double degree, double without_noise, std::uint64_t seed) {
    SeededRandom random(seed, "local precision test");
    NoisePlan plan = blank_plan(agents, 1.7);
    for (int u = 0; u < agents; ++u)
        add_stream(
            plan, {u}, {random.uniform() < without_noise ? 0 : std::sqrt(random.uniform() / 2)});
    for (int u = 0; u < agents; ++u)
        for (int v = u + 1; v < agents; ++v) {
            if (random.uniform() * (agents - 1) > degree) continue;
            const double size = std::sqrt(random.uniform() / 4);
            add_stream(plan, {u, v}, {size, random.uniform() < 0.2 ? 1.3 * size : -size});
        }
    return plan;
}

}  // namespace sotto::test
