#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "config/config.hpp"
#include "sotto/learn/dataset.hpp"
#include "sotto/learn/label_set.hpp"
#include "sotto/net/network.hpp"
#include "sotto/plan/membership.hpp"
#include "tasks/data_digests.hpp"
#include "tasks/data_shape.hpp"
#include "tasks/dealt_data.hpp"

namespace sotto {

/// Whether every agent reads a data file of its own (%r), which the others do not see.
[[nodiscard]] bool one_file_an_agent(const TaskConfig& config);

/// A file or files as they are read: tables mean what all agents' tables mean.
using DataFile = std::variant<Dataset, Table>;

/// The data of this process's agents, and what all processes agree on.
struct LocalData {
    std::vector<AgentData> agents;  ///< one per local agent
    DataShape shape{};              ///< of every agent of the network
    [[nodiscard]] Eigen::Index classes() const { return std::ssize(shape.labels); }
    bool own_tests = false;  ///< agents have different test records; false: all the same
    std::string description;
    std::vector<std::string> file_names{};  ///< own_file_names, when they were read
    std::vector<std::string> understood{};  ///< what was read, a line each, for who starts the run
    std::vector<std::string> statements;    ///< what was done to the data that no guarantee counts
    DataDigests digests;
};

/// The records of one agent's files, or of files that all agents share. LOCAL.
/// @param option that names them.  @param digests where those of the files are appended.
/// @throws DataError.
[[nodiscard]] DataFile read_files(const std::string& option,
                                  const std::string& list,
                                  int agent,
                                  std::vector<FileDigest>& digests);

/// Reads the data (with %r in a path every agent's own file); agrees with all processes on what
/// labels, columns and features of all files mean (DataShape); splits off the test set, deals the
/// rest to the agents, scales columns of tables.
/// COLLECTIVE. @throws ConfigError; DataError, also for test data with a label that no training
/// data have; NetworkError (agreed_shape); the same on every process.
[[nodiscard]] LocalData read_local_data(const TaskConfig& config,
                                        Network& network,
                                        const Membership& members);

}  // namespace sotto
