#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sotto/experiment/config.hpp"
#include "sotto/learn/dataset.hpp"
#include "sotto/net/network.hpp"

namespace sotto {

/// What one agent trains and tests on. All have the same number of features.
struct AgentData {
    Dataset shard;
    std::shared_ptr<const Dataset>
        test;  ///< shared by the agents of a process where it is the same
};

/// The data of this process's agents, and what all processes agree on.
struct LocalData {
    std::vector<AgentData> agents;  ///< one per local agent
    Eigen::Index features = 0;      ///< of every agent of the network
    Eigen::Index classes = 0;       ///< largest class of any training or test record, plus 1
    Target target = Target::label;
    std::string description;
    std::vector<std::string> statements;  ///< what was done to the data that no guarantee counts
};

/// Reads the data, splits off the test set, deals the rest to the agents (or, with %r in the path,
/// reads every agent's own file), standardises targets that are values and their features.
/// COLLECTIVE. @throws ConfigError, DataError.
[[nodiscard]] LocalData read_local_data(const TaskConfig& config, Network& network);

}  // namespace sotto
