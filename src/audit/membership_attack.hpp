#pragma once

#include <Eigen/Dense>
#include <cstdint>
#include <string>
#include <vector>

#include "audit/attack.hpp"
#include "audit/attack_statistics.hpp"
#include "audit/audit_job.hpp"
#include "sotto/privacy/budget.hpp"
#include "tasks/task_data.hpp"

namespace sotto {

/// Which records did agents train on? Attacks a training of config.train.task: the members know
/// models (KnownModels), and a small loss under an agent's model suggests one of its records. Cases
/// are the agent's training records and as many held-out records of every class. For sotto's
/// classification and regression tasks only.
[[nodiscard]] AttackRecord membership_attack();

/// How well the members of a view recognise one agent's training records.
struct MembershipFigures {
    int target = 0;
    int distance = -1;   ///< to the nearest member; -1 without one
    bool heard = false;  ///< its messages were seen; else the members' own models are used
    long records = 0;    ///< training records asked about; as many of the test set
    RankingFigures ranking{};
    /// Lower bound of a record's epsilon at the audit's level, records taken as independent trials
    /// (measure_attack); NaN with too few.
    double epsilon_lower = 0;
    double epsilon_certain = 0;  ///< the same at the level corrected for the number of targets
    double claim_epsilon = 0;    ///< against all messages and the members' seeds
    /// Whether the certain bound exceeds the claim.
    [[nodiscard]] bool exceeds() const { return epsilon_certain > claim_epsilon; }
};

struct MembershipResult : AuditResult {
    long averaged_rounds = 0;  ///< whose messages make an agent's model: the last tenth
    Adjacency adjacency = Adjacency::agent;
    double delta = 0;
    std::vector<MembershipFigures> targets;  ///< nearest first, then by number

    [[nodiscard]] nlohmann::ordered_json json() const override;
    [[nodiscard]] std::string question() const override;
    [[nodiscard]] std::string tables() const override;
    [[nodiscard]] std::string agreement() const override;
};

/// Rows of an agent's records and of as many held-out records, label by label, so that labels
/// reveal nothing about membership. Both in random order.
struct MatchedRows {
    std::vector<Eigen::Index> inside, outside;
};
[[nodiscard]] MatchedRows match_rows(const Dataset& shard,
                                     const Dataset& test,
                                     std::uint64_t seed,
                                     int agent);

/// Scores of one agent's records under a model: minus their losses. LOCAL.
/// @param data of all agents; @param risk of the certain bound of epsilon.
/// @return what one agent's process can compute: no distance, no claim, not `heard`.
/// @throws DataError for a model that does not fit the task.
[[nodiscard]] MembershipFigures measure_membership(int agent,
                                                   const AgentData& own,
                                                   const LocalData& data,
                                                   const AuditConfig& config,
                                                   const Eigen::VectorXd& model,
                                                   double risk);

struct AskedAgent {
    Eigen::Index records = 0;
    MembershipFigures figures;
};
/// The agents of all processes, on every process, ascending. COLLECTIVE.
/// @throws NetworkError for malformed figures, or unless there is one per agent.
[[nodiscard]] std::vector<AskedAgent> share_figures(const std::vector<AskedAgent>& own,
                                                    Control& network);

}  // namespace sotto
