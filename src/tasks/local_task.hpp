#pragma once

#include <Eigen/Core>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/numbers.hpp"
#include "learn/standardisation.hpp"
#include "net/network.hpp"
#include "sotto/learn/objective.hpp"
#include "tasks/data_agreement.hpp"
#include "tasks/data_shape.hpp"

namespace sotto {

struct LocalData;

/// What the records of a task have as targets. For the experimenter, as losses are: computed from
/// raw data, no private output.
struct TargetFacts {
    /// Part of all test records that have the most frequent class; not a number for values.
    double constant_accuracy = not_a_number;
    /// Mean test loss of the best prediction that is the same for every record: the entropy of the
    /// classes' parts [nats], or the variance of the values.
    double constant_loss = not_a_number;
    double test_records = 0;    ///< of all agents
    long one_class_agents = 0;  ///< whose training records are all of one class
};

/// Of all agents. COLLECTIVE. Cost: a pass over labels, and one sum of as many numbers an agent as
/// there are classes. @throws NetworkError, the same on every process.
[[nodiscard]] TargetFacts target_facts(Network& network, const LocalData& data);

/// The agents of this process with their data, before their batches are known.
struct LocalTask {
    std::vector<std::unique_ptr<Objective>> objectives;  ///< one per local agent
    Eigen::VectorXd initial;                             ///< the same on every agent
    std::vector<Eigen::Index> records;  ///< training records of every agent of the network
    std::string description;
    std::vector<std::string> statements;  ///< for the ledger: what was done to the data
    /// Row t of an agent's records is all it uses in round t (BatchSampler::in_order).
    bool rows_are_rounds = false;
    bool coordinates = false;   ///< every coordinate is a model of its own and clipped by itself
    bool has_records = true;    ///< false: the "record" is the function itself (quadratic)
    bool fixed_inputs = false;  ///< see TaskRecord
    /// Agents have different test records, or may have; false: all have the same.
    bool own_tests = false;
    DataShape shape{};  ///< of all agents' data, where they are read for the task
    std::vector<std::optional<Standardisation>> scaling{};  ///< one per local agent, likewise
    std::vector<std::string> file_names{};                  ///< see LocalData
    std::vector<std::string> understood{};                  ///< what was read, a line each
    /// Of a task that no option names: who made it makes it again when its run is resumed.
    bool resumable = false;
    std::optional<double> l2;  ///< the only regularisation with which the task means something
    DataDigests digests;       ///< of the files that were read
    TargetFacts targets;       ///< of tasks that learn from records
};

}  // namespace sotto
