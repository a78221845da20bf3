#pragma once

#include <Eigen/Core>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/numbers.hpp"
#include "learn/standardisation.hpp"
#include "net/control.hpp"
#include "sotto/learn/objective.hpp"
#include "tasks/data_agreement.hpp"
#include "tasks/data_shape.hpp"

namespace sotto {

struct LocalData;

/// Facts about a task's targets. For the experimenter, like losses: computed from raw data, not
/// private outputs.
struct TargetFacts {
    /// Share of all test records in the most frequent class; NaN for values.
    double constant_accuracy = not_a_number;
    /// Mean test loss of the best constant prediction: the entropy of the classes' shares [nats],
    /// or the variance of the values.
    double constant_loss = not_a_number;
    double test_records = 0;    ///< of all agents
    long one_class_agents = 0;  ///< whose training records are all of one class
};

/// Over all agents. COLLECTIVE. Cost: a pass over labels, and one sum of as many numbers per agent
/// as there are classes. @throws NetworkError, the same on every process.
[[nodiscard]] TargetFacts target_facts(Control& network, const LocalData& data);

/// The local agents with their data, before their batches are chosen.
struct LocalTask {
    std::vector<std::unique_ptr<Objective>> objectives;  ///< one per local agent
    /// One per local agent (make_column_moments), with the records of its objective, if
    /// TaskConfig::learns_scaling(); otherwise empty. Their sums over all agents, divided by the
    /// number of all records, are what scaling_by_moments takes; objectives are scaled by bounds
    /// until the task is made again with that as TaskConfig::known_scaling.
    std::vector<std::unique_ptr<Objective>> moments{};
    Eigen::VectorXd initial;            ///< the same on every agent
    std::vector<Eigen::Index> records;  ///< training records of every agent of the network
    std::string description;
    std::vector<std::string> statements;  ///< for the ledger: what was done to the data
    /// Row t of an agent's records is all it uses in round t (BatchSampler::in_order).
    bool rows_are_rounds = false;
    /// R, if no training record of the local agents is longer (TaskConfig::feature_norm), and each
    /// has one loss that is convex.
    std::optional<double> feature_norm{};
    bool coordinates = false;   ///< each coordinate is its own model and clipped alone
    bool has_records = true;    ///< false: the only "record" is the function itself (quadratic)
    bool fixed_inputs = false;  ///< see TaskRecord
    /// Agents may have different test records; false: all have the same.
    bool own_tests = false;
    DataShape shape{};  ///< of all agents' data, if read for the task
    std::vector<std::optional<Standardisation>> scaling{};  ///< one per local agent, likewise
    std::vector<std::string> file_names{};                  ///< see LocalData
    std::vector<std::string> understood{};                  ///< what was read, one line each
    std::string person{};  ///< of a task without an option: what a record is (HandedInputs)
    /// For a task without an option: its maker can make it again on resume.
    bool resumable = false;
    std::optional<double> l2;  ///< the only regularisation that makes sense for the task
    DataDigests digests;       ///< of the files read
    TargetFacts targets;       ///< if it learns from records
};

}  // namespace sotto
