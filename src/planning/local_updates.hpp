#pragma once

#include "config/config.hpp"
#include "tasks/local_task.hpp"

namespace sotto {

/// @throws ConfigError for local steps, or sampled agents, that the mechanism, the adjacency, the
/// participation or the clip do not leave; for gossip steps beside a server.
void require_possible_updates(const PlanConfig& config);
/// @throws ConfigError for either with a task whose gradients are its data; for sampled agents
/// whose rounds are padded.
void require_possible_updates(const TrainConfig& config, const LocalTask& task);

}  // namespace sotto
