#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "run/config.hpp"
#include "run/data_digests.hpp"
#include "sotto/learn/dataset.hpp"
#include "sotto/learn/label_set.hpp"
#include "sotto/net/network.hpp"
#include "sotto/plan/membership.hpp"

namespace sotto {

/// Whether every agent reads a data file of its own (%r), which the others do not see.
[[nodiscard]] bool one_file_an_agent(const TaskConfig& config);

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
    Eigen::Index image_rows = 0;    ///< features are images of so many rows; 0: not known
    Eigen::Index classes = 0;       ///< as many as there are labels
    LabelSet labels{};              ///< of all agents' training data: their places are the classes
    Target target = Target::label;
    bool own_tests = false;  ///< agents have different test records; false: all the same
    std::string description;
    std::vector<std::string> statements;  ///< what was done to the data that no guarantee counts
    DataDigests digests;
};

/// The records of one agent's files, or of files that all agents share. LOCAL.
/// @param option that names them.  @param digests where those of the files are appended.
/// @throws DataError.
[[nodiscard]] Dataset read_files(const std::string& option,
                                 const std::string& list,
                                 int agent,
                                 std::vector<FileDigest>& digests);

/// The configured partition, or the default for such data.
[[nodiscard]] PartitionSpec partition_of(const TaskConfig& config, Target target);

/// Rows of every agent, by partition_of. @throws ConfigError where it deals by classes and the data
/// have values.
[[nodiscard]] std::vector<std::vector<Eigen::Index>> deal_rows(
    const Dataset& all,
    const std::vector<Eigen::Index>& rows,
    const TaskConfig& config,
    int agents);

/// Reads the data (with %r in a path every agent's own file); agrees with all processes on what
/// labels, columns and features of all files mean (DataShape); splits off the test set, deals the
/// rest to the agents, standardises targets that are values and their features.
/// COLLECTIVE. @throws ConfigError; DataError, also for test data with a label that no training
/// data have; NetworkError (agreed_shape); the same on every process.
[[nodiscard]] LocalData read_local_data(const TaskConfig& config,
                                        Network& network,
                                        const Membership& members);

}  // namespace sotto
