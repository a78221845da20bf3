#pragma once

#include <functional>
#include <string>
#include <vector>

#include "commands/audit/audit_job.hpp"
#include "commands/audit/ranking_statistics.hpp"

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
    bool exceeds = false;        ///< epsilon_certain is above it
};

struct MembershipResult {
    std::string mechanism, view, task;
    int agents = 0;
    long rounds = 0;
    long averaged_rounds = 0;  ///< whose messages make the model of an agent: the last tenth
    Adjacency adjacency = Adjacency::agent;
    double delta = 0, level = 0.99;
    std::vector<MembershipFigures> targets;  ///< nearest first, then by number
    std::vector<std::string> findings;       ///< in words, why it is not consistent
    bool consistent = true;
    std::uint64_t seed = 1;
    double seconds = 0;
    std::string run_directory;
};

/// A training of config.train.task, attacked. The model of an agent is the mean of its messages
/// (first gossip step) in the last rounds, where the view sees them, else the mean of the members'
/// models in these rounds. The score of a record is minus its loss under that model. Cases are the
/// agent's training records and records held out, as many of every class. With config.run a
/// training that was made before. Classification and regression tasks of sotto only. COLLECTIVE;
/// every process has the verdict, process 0 the result; audit.json in the run directory.
/// @throws ConfigError for a task without held-out records; DataError for recordings that are
/// missing or of another run.
[[nodiscard]] MembershipResult run_membership(const AuditConfig& config,
                                              Network& network,
                                              TrainingListener& observer,
                                              const std::function<bool()>& stop_requested);

/// The JSON object (docs/cli.md), as text.
[[nodiscard]] std::string audit_report_json(const MembershipResult& result);
/// The same for people.
[[nodiscard]] std::string audit_report_text(const MembershipResult& result);

}  // namespace sotto
