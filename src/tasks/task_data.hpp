#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "config/config.hpp"
#include "learn/label_set.hpp"
#include "learn/record_objective.hpp"
#include "learn/standardisation.hpp"
#include "learn/table_shape.hpp"
#include "net/network.hpp"
#include "sotto/learn/dataset.hpp"
#include "sotto/plan/membership.hpp"
#include "tasks/data_agreement.hpp"
#include "tasks/data_shape.hpp"

namespace sotto {

// How records become those of agents.

/// What one agent trains and tests on. All have the same number of features.
struct AgentData {
    Dataset shard;
    std::shared_ptr<const Dataset>
        test;  ///< shared by the agents of a process where it is the same
    std::optional<Standardisation> scaling{};  ///< of its table
    Units units{};  ///< rows of the shard that are protected together; none: each by itself
};

/// The configured partition, or the default for such data.
[[nodiscard]] PartitionSpec partition_of(const TaskConfig& config, Target target);

/// Rows of every agent, by partition_of. @throws ConfigError where it deals by classes and the data
/// have values.
[[nodiscard]] std::vector<std::vector<Eigen::Index>> deal_rows(
    const Dataset& all,
    const std::vector<Eigen::Index>& rows,
    const TaskConfig& config,
    int agents);

/// How columns of tables are scaled.
class Scaling {
  public:
    Scaling(const TaskConfig& config, const std::optional<TableShape>& table);
    /// Nothing of data that are no tables.
    [[nodiscard]] std::optional<Standardisation> of(const Dataset& data,
                                                    std::span<const Eigen::Index> rows) const;
    /// By mean and deviation of training records.
    [[nodiscard]] bool by_data() const { return !numbers_.empty() && !fixed_; }

  private:
    std::vector<bool> numbers_;
    std::optional<Standardisation> fixed_;
};

/// Records of one data set, split, and scaled where they are to be.
class Deal {
  public:
    /// @throws DataError for too few records to split.
    Deal(Dataset all, const TaskConfig& config, const Scaling& scaling);
    [[nodiscard]] const Dataset& all() const { return all_; }
    [[nodiscard]] const std::vector<Eigen::Index>& train() const { return split_.train; }
    /// What an agent has that trains on these rows and tests on `test`.
    [[nodiscard]] AgentData agent(std::span<const Eigen::Index> rows,
                                  std::shared_ptr<const Dataset> test) const;
    /// The given test data, of which agents share what need not differ, or what was held out.
    [[nodiscard]] std::shared_ptr<const Dataset> test(
        const std::shared_ptr<const Dataset>& given) const;

  private:
    Dataset all_;
    Split split_;
    bool by_unit_;
    std::optional<Standardisation> moments_;
};

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

// What was read, in words.

/// What every label is called: its text in a table, or the number that files have.
[[nodiscard]] std::vector<std::string> label_texts(const std::optional<TableShape>& table,
                                                   const LabelSet& labels);

/// The names of the files that agents read, by the agent's number, where every agent has files of
/// its own; of a pattern those that it matches on this host, "" of an agent that has none here.
/// Otherwise empty. LOCAL.
[[nodiscard]] std::vector<std::string> own_file_names(const TaskConfig& config, int agents);

/// What was read, a line each: of a table which column is predicted from which others; where every
/// agent has files of its own, who has which, and of the agents of this process which records. For
/// who runs this process: the counts are those of private data. @param local with file_names.
[[nodiscard]] std::vector<std::string> understood(const TaskConfig& config,
                                                  const LocalData& local,
                                                  const Membership& members,
                                                  std::span<const int> local_agents);

}  // namespace sotto
