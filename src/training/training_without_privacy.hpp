#pragma once

#include <cstdint>
#include <vector>

#include "agent/local_agent.hpp"
#include "sotto/learn/objective.hpp"

namespace sotto {

/// The result of these agents' model without privacy, as a baseline: 500 steps of Adam (step 0.01,
/// falling to 0) on the mean of the agents' losses, with batches of about 512 records of all agents
/// together, without clipping or noise. Deterministic in the seed. Cost: 500 such gradients, and a
/// pass over the test set. LOCAL: all agents must be in this process.
/// @param own_tests agents have different test records; false: all have the same.
[[nodiscard]] LossSum train_without_privacy(
    std::vector<LocalAgent>& agents, double l2, bool own_tests, std::uint64_t seed, int threads);

}  // namespace sotto
