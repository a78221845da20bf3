#pragma once

#include <Eigen/Dense>
#include <cstdint>
#include <vector>

#include "audit/audit_config.hpp"
#include "audit/membership_result.hpp"
#include "tasks/task_data.hpp"

namespace sotto {

/// Rows of an agent's records, and of as many records that were held out, label by label: what the
/// labels say about an agent is no membership. Both in random order.
struct MatchedRows {
    std::vector<Eigen::Index> inside, outside;
};
[[nodiscard]] MatchedRows match_rows(const Dataset& shard,
                                     const Dataset& test,
                                     std::uint64_t seed,
                                     int agent);

/// Asks a model about the records of one agent: the score of a record is minus its loss. LOCAL.
/// @param data of all agents; @param risk of the certain bound of epsilon.
/// @return what one agent's process finds out: no distance, no claim, and nobody is heard.
/// @throws DataError for a model that does not fit the task.
[[nodiscard]] MembershipFigures measure_membership(int agent,
                                                   const AgentData& own,
                                                   const LocalData& data,
                                                   const AuditConfig& config,
                                                   const Eigen::VectorXd& model,
                                                   double risk);

/// What every process tells the others about one of its agents.
struct AskedAgent {
    Eigen::Index records = 0;  ///< of its shard
    MembershipFigures figures;
};
/// The agents of all processes, on every process, in ascending order. COLLECTIVE.
/// @throws NetworkError for figures that are damaged, or not one of every agent.
[[nodiscard]] std::vector<AskedAgent> share_figures(const std::vector<AskedAgent>& own,
                                                    Network& network);

}  // namespace sotto
