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
#include "net/control.hpp"
#include "sotto/learn/dataset.hpp"
#include "sotto/plan/membership.hpp"
#include "tasks/data_agreement.hpp"
#include "tasks/data_shape.hpp"
#include "tasks/shared_files.hpp"

namespace sotto {

/// Training and test data of one agent. All have the same number of features.
struct AgentData {
    Dataset shard;
    std::shared_ptr<const Dataset> test;       ///< shared by local agents if it is the same
    std::optional<Standardisation> scaling{};  ///< of its table
    Units units{};  ///< rows of the shard by privacy unit; empty: each record is one
};

/// The configured partition, or the default for this kind of data.
[[nodiscard]] PartitionSpec partition_of(const TaskConfig& config, Target target);

/// Rows of every agent. @throws ConfigError for a partition by classes if the data have values.
[[nodiscard]] std::vector<std::vector<Eigen::Index>> deal_rows(
    const Dataset& all,
    const std::vector<Eigen::Index>& rows,
    const TaskConfig& config,
    int agents);

/// How columns of tables are scaled.
class Scaling {
  public:
    /// @param table nothing if the data are no tables.
    /// @throws ConfigError if it has columns of numbers, and neither bounds nor another scaling
    /// were chosen, or bounds do not fit; DataError if a known scaling is of other features.
    Scaling(const TaskConfig& config, const std::optional<TableShape>& table);
    /// Nothing if the data are no tables.
    [[nodiscard]] std::optional<Standardisation> of(const Dataset& data,
                                                    std::span<const Eigen::Index> rows) const;
    /// Whether it uses mean and deviation of training records.
    [[nodiscard]] bool by_data() const { return !numbers_.empty() && !fixed_; }

  private:
    std::vector<bool> numbers_;
    std::optional<Standardisation> fixed_;
};

/// Records of one data set, split, and scaled if necessary.
class Deal {
  public:
    /// @throws DataError for too few records to split.
    Deal(Dataset all, const TaskConfig& config, const Scaling& scaling);
    [[nodiscard]] const Dataset& all() const { return all_; }
    [[nodiscard]] const std::vector<Eigen::Index>& train() const { return split_.train; }
    /// Data of an agent that trains on these rows and tests on `test`.
    [[nodiscard]] AgentData agent(std::span<const Eigen::Index> rows,
                                  std::shared_ptr<const Dataset> test) const;
    /// The given test data, shared if agents' scaling is the same, or the held-out part.
    [[nodiscard]] std::shared_ptr<const Dataset> test(
        const std::shared_ptr<const Dataset>& given) const;

  private:
    Dataset all_;
    Split split_;
    bool by_unit_;
    std::optional<Standardisation> moments_;
};

/// Whether every agent reads its own data file (%r).
[[nodiscard]] bool one_file_an_agent(const TaskConfig& config);

/// The local agents' data, and what all processes agree on.
struct LocalData {
    std::vector<AgentData> agents;  ///< one per local agent
    DataShape shape{};              ///< of all agents of the network
    [[nodiscard]] Eigen::Index classes() const { return std::ssize(shape.labels); }
    bool own_tests = false;  ///< agents have different test records; false: all the same
    std::string description;
    std::vector<std::string> file_names{};  ///< own_file_names, if they were read
    std::vector<std::string> understood{};  ///< what was read, one line each, for whoever starts
                                            ///< the run
    std::vector<std::string> statements;    ///< for the ledger: what was done to the data
    DataDigests digests;
};

/// The records of one agent's files, or of shared files. LOCAL.
/// @param option that names them.  @param digests the files' digests are appended.
/// @throws DataError.
[[nodiscard]] DataFile read_files(const std::string& option,
                                  const std::string& list,
                                  int agent,
                                  std::vector<FileDigest>& digests);

/// Reads the data (with %r in a path every agent's own file), agrees with all processes on labels,
/// columns and features (DataShape), splits off the test set, deals the rest to the agents, and
/// scales columns of tables. COLLECTIVE. @throws ConfigError; DataError, also for test data with a
/// label that no training data have; NetworkError (agreed_shape); the same on every process.
[[nodiscard]] LocalData read_local_data(const TaskConfig& config,
                                        Control& network,
                                        const Membership& members);

/// Texts of labels: those of a table, or the numbers in the files.
[[nodiscard]] std::vector<std::string> label_texts(const std::optional<TableShape>& table,
                                                   const LabelSet& labels);

/// File names by the agent's number, if every agent has its own files; for a pattern those it
/// matches on this host, "" for an agent without one here. Otherwise empty. LOCAL.
[[nodiscard]] std::vector<std::string> own_file_names(const TaskConfig& config, int agents);

/// What was read, one line each: for a table which column is predicted from which; with own files,
/// who has which, and the records of local agents. For whoever runs this process: the counts are of
/// private data. @param local with file_names.
[[nodiscard]] std::vector<std::string> understood(const TaskConfig& config,
                                                  const LocalData& local,
                                                  const Membership& members,
                                                  std::span<const int> local_agents);

}  // namespace sotto
