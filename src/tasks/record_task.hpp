#pragma once

#include <Eigen/Dense>
#include <memory>
#include <optional>
#include <string>

#include "config/config.hpp"
#include "net/network.hpp"
#include "sotto/core/hash.hpp"
#include "sotto/learn/objective.hpp"
#include "tasks/local_task.hpp"
#include "tasks/task_data.hpp"

namespace sotto {

/// @throws ConfigError for an option that is given and has no meaning: with this task, or beside
/// others.
void require_options_fit(const TaskConfig& config);

/// Numbers a model has to give for a record: one a class, or the value to predict.
/// @throws DataError if all records are of one class.
[[nodiscard]] Eigen::Index outputs_of(const TaskConfig& config, const LocalData& data);

/// The objective of one agent, of a task that needs records; data say what all agents have in
/// common. @throws ConfigError for a task that does not fit the data; DataError.
[[nodiscard]] std::unique_ptr<Objective> make_record_objective(const TaskConfig& config,
                                                               const LocalData& data,
                                                               Dataset shard,
                                                               std::shared_ptr<const Dataset> test);

/// Reads the data, splits off the test set, deals the rest to the agents; every process keeps its
/// own agents' shards only. With %r in the data path every agent reads its own file (and tests on
/// its own held-out part unless test data are given). Shards go by the agents' numbers: who is gone
/// takes its own along. COLLECTIVE. @throws ConfigError, DataError.
[[nodiscard]] LocalTask build_record_task(const TaskConfig& config,
                                          Network& network,
                                          const Membership& members);

/// What a program brings for the one agent of this process.
struct HandedInputs {
    std::unique_ptr<Objective> objective;
    /// Model that every agent begins with; empty: zero. It must not depend on data.
    Eigen::VectorXd initial;
    std::string description;  ///< for people
    /// Of the agent's records, as the program sees fit. Without it only their number is compared
    /// when the run is resumed.
    std::optional<Digest> data{};
};

/// The task of agents whose gradients a program hands over. COLLECTIVE.
/// @throws ConfigError, DataError, NetworkError, the same on every process; the second where agents
/// begin with different models.
[[nodiscard]] LocalTask make_handed_task(HandedInputs inputs,
                                         const TaskConfig& config,
                                         Network& network);

}  // namespace sotto
