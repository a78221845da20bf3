#pragma once

#include <optional>
#include <string>
#include <vector>

#include "run/config.hpp"
#include "sotto/agent/trainer.hpp"
#include "sotto/net/network.hpp"
#include "sotto/plan/membership.hpp"

namespace sotto {

/// Built-in tasks; the name of a shared library is one too (own_task.hpp).
[[nodiscard]] std::vector<std::string> task_names();
/// Whether every agent reads a data file of its own (%r), which the others do not see.
[[nodiscard]] bool one_file_an_agent(const TaskConfig& config);
/// Whether gradients depend on the data alone, not on messages: partial views are exact.
[[nodiscard]] bool has_fixed_inputs(const TaskConfig& config);

/// The agents of this process with their data, before their batches are known.
struct LocalTask {
    std::vector<std::unique_ptr<Objective>> objectives;  ///< one per local agent
    Eigen::VectorXd initial;                             ///< the same on every agent
    std::vector<Eigen::Index> records;  ///< training records of every agent of the network
    std::string description;
    std::vector<std::string> statements;  ///< for the ledger: what was done to the data
    /// Row t of an agent's records is all it uses in round t (BatchSampler::in_order).
    bool rows_are_rounds = false;
    bool coordinates = false;  ///< every coordinate is a model of its own and clipped by itself
    bool has_records = true;   ///< false: the "record" is the function itself (quadratic)
    /// See has_fixed_inputs; also of tasks that are not named in a configuration.
    bool fixed_inputs = false;
    std::optional<double> l2;  ///< the only regularisation with which the task means something
};

/// Reads the data, splits off the test set, deals the rest to the agents; every process keeps its
/// own agents' shards only. With %r in the data path every agent reads its own file (and tests on
/// its own held-out part unless test data are given). Shards go by the agents' numbers: who is gone
/// takes its own along. COLLECTIVE. @throws ConfigError, DataError.
[[nodiscard]] LocalTask build_task(const TaskConfig& config,
                                   Network& network,
                                   const Membership& members);

}  // namespace sotto
