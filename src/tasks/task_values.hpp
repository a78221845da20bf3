#pragma once

#include <Eigen/Core>
#include <optional>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "net/control.hpp"
#include "sotto/learn/dataset.hpp"
#include "sotto/plan/membership.hpp"
#include "tasks/data_agreement.hpp"

namespace sotto {

/// Points of the local agents for the averaging task: no test set, every column counts, unscaled.
struct LocalValues {
    std::vector<Dataset> shards;  ///< one per local agent; all have the same number of features
    /// Of all agents' means, if this process has read all data.
    std::optional<Eigen::VectorXd> mean;
    std::string description;
    DataDigests digests;
};

/// Reads and deals the points; "synthetic": synthetic_values, 100 per agent. COLLECTIVE.
/// @throws ConfigError (test data are given), DataError.
[[nodiscard]] LocalValues read_local_values(const TaskConfig& config,
                                            Control& network,
                                            const Membership& members);

}  // namespace sotto
