#pragma once

// How records become those of agents; not installed.

#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "config/config.hpp"
#include "learn/table_encoding.hpp"
#include "sotto/learn/dataset.hpp"
#include "sotto/learn/partition.hpp"
#include "sotto/learn/split.hpp"
#include "sotto/learn/standardisation.hpp"
#include "sotto/learn/unit_objective.hpp"

namespace sotto {

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

}  // namespace sotto
