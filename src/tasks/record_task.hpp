#pragma once

#include <Eigen/Dense>
#include <memory>
#include <optional>
#include <string>

#include "config/config.hpp"
#include "net/control.hpp"
#include "sotto/core/hash.hpp"
#include "sotto/learn/objective.hpp"
#include "tasks/local_task.hpp"
#include "tasks/task_data.hpp"

namespace sotto {

/// @throws ConfigError for an option that has no meaning with this task or the other options.
void require_options_fit(const TaskConfig& config);

/// Outputs of a model: one per class, or the value to predict.
/// @throws DataError if all records are of one class.
[[nodiscard]] Eigen::Index outputs_of(const TaskConfig& config, const LocalData& data);

/// The objective of one agent, for a task that needs records. @param data common to all agents.
/// @throws ConfigError for a task that does not fit the data; DataError.
[[nodiscard]] std::unique_ptr<Objective> make_record_objective(const TaskConfig& config,
                                                               const LocalData& data,
                                                               Dataset shard,
                                                               std::shared_ptr<const Dataset> test);

/// Reads the data, splits off the test set, deals the rest to the agents; every process keeps only
/// its own agents' shards. With %r in the data path every agent reads its own file (and tests on
/// its own held-out part unless test data are given). Shards go by the agents' numbers: an agent
/// that leaves takes its shard along. COLLECTIVE. @throws ConfigError, DataError.
[[nodiscard]] LocalTask build_record_task(const TaskConfig& config,
                                          Control& network,
                                          const Membership& members);

/// What a calling program provides for its local agents.
struct HandedInputs {
    /// Of one agent each, in the order of their numbers; at least one.
    std::vector<std::unique_ptr<Objective>> objectives;
    /// Initial model of every agent; empty: zero. It must not depend on data.
    Eigen::VectorXd initial;
    std::string description;  ///< for people
    /// Digests of the agents' records, defined by the program: of each or of none. Without them
    /// only the numbers of records are compared on resume.
    std::vector<Digest> data{};
    /// What each record is, if it has everything of one person: the name of such, for the ledger.
    std::string person{};
};

/// The task of agents whose gradients a program computes. COLLECTIVE.
/// @throws ConfigError, DataError, NetworkError, the same on every process; DataError if initial
/// models differ.
[[nodiscard]] LocalTask make_handed_task(HandedInputs inputs,
                                         const TaskConfig& config,
                                         Control& network);

}  // namespace sotto
