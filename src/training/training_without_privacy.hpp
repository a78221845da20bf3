#pragma once

#include <cstdint>
#include <vector>

#include "agent/local_agent.hpp"
#include "sotto/learn/objective.hpp"

namespace sotto {

/// What the model of these agents comes to without privacy, as a figure to compare with: 500 steps
/// of Adam (step 0.01, falling to 0) on the mean of the agents' losses, with batches of about 512
/// records of all agents together, neither clipped nor with noise. Deterministic in the seed.
/// LOCAL: all agents are of this process. Cost: 500 such gradients, and a pass over the test set.
/// @param own_tests agents have different test records; false: all the same.
[[nodiscard]] LossSum train_without_privacy(
    std::vector<LocalAgent>& agents, double l2, bool own_tests, std::uint64_t seed, int threads);

}  // namespace sotto
