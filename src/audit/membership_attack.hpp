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

/// Which records did agents train on? A training of config.train.task, attacked: the members know
/// models (KnownModels), and a record whose loss under an agent's model is small is taken for one
/// of the agent's. Cases are the agent's training records and records held out, as many of every
/// class. Classification and regression tasks of sotto only.
[[nodiscard]] AttackRecord membership_attack();

/// How well the members of a view can say which records one agent trained on.
struct MembershipFigures {
    int target = 0;
    int distance = -1;   ///< from the nearest member; -1 without one
    bool heard = false;  ///< its messages were seen; else the members' own models are used
    long records = 0;    ///< of the agent that are asked about, and as many of the test set
    RankingFigures ranking{};
    /// epsilon of a record is at least this at the audit's level, records taken as independent
    /// trials (measure_attack); not a number with too few of them.
    double epsilon_lower = 0;
    double epsilon_certain = 0;  ///< the same at the level corrected for the number of targets
    double claim_epsilon = 0;    ///< who sees all messages, with the seeds of the members
    /// What was measured for certain is above it.
    [[nodiscard]] bool exceeds() const { return epsilon_certain > claim_epsilon; }
};

/// Of every agent that is not a member of the view.
struct MembershipResult : AuditResult {
    long averaged_rounds = 0;  ///< whose messages make the model of an agent: the last tenth
    Adjacency adjacency = Adjacency::agent;
    double delta = 0;
    std::vector<MembershipFigures> targets;  ///< nearest first, then by number

    [[nodiscard]] nlohmann::ordered_json json() const override;
    [[nodiscard]] std::string question() const override;
    [[nodiscard]] std::string tables() const override;
    [[nodiscard]] std::string agreement() const override;
};

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
