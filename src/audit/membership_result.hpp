#pragma once

#include <string>
#include <vector>

#include "audit/audit_result.hpp"
#include "audit/ranking_statistics.hpp"
#include "sotto/privacy/budget.hpp"

namespace sotto {

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

}  // namespace sotto
