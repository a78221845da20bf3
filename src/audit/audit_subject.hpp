#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "account/account_subject.hpp"
#include "audit/audit_job.hpp"
#include "graph/topography.hpp"
#include "net/control.hpp"
#include "sotto/views/view_record.hpp"

namespace sotto {

/// The audited run and its observer. The same on every process.
struct AuditSubject {
    View view;
    Topography topography;
    /// What the accountant says about a run with fixed inputs; null for a training, whose plan
    /// depends on the data.
    std::unique_ptr<AccountSubject> account;
    /// That run with explicit step sizes, the units of its messages. Refers to `account`.
    MessageProcess process;
    std::string view_name;  ///< of `view`; for a worst coalition, its members
};

/// Builds the graph and, for fixed inputs, solves the plan; for a worst-coalition view finds the
/// coalition that learns most (find_worst_coalitions) about config.targets, or about anybody; for
/// persons with records at several agents, most about one of them (worst_person).
/// For an attack of trainings (AttackRecord) reads the graph of config.run. COLLECTIVE.
/// @throws ConfigError for a --confidence that is not above 0.5 and below 1, a view of several
/// observers or one that leaves nobody to learn about, and a --participation that the attack does
/// not cover; with fixed inputs also for a mechanism with a trusted aggregator, fewer than 2
/// agents, and mixing that changes; for an attack of trainings as run_of_training and
/// read_recorded_run.
[[nodiscard]] AuditSubject build_audit_subject(const AuditConfig& config,
                                               bool fixed_inputs,
                                               Control& network);

/// The messages of a run with explicit step sizes. It refers to `account`.
/// @throws ConfigError for a mechanism with a trusted aggregator, fewer than 2 agents, and mixing
/// that changes.
[[nodiscard]] MessageProcess attacked_process(const TrainConfig& train,
                                              const AccountSubject& account);

/// config.run, for an attack of trainings. @throws ConfigError if it is not given.
[[nodiscard]] const std::string& run_of_training(const AuditConfig& config);

/// Ascending.
[[nodiscard]] std::vector<int> agents_outside(const View& view, int agents);
/// The agent with the largest loss. Optimal noise gives many agents the same loss up to rounding,
/// which differs between machines: among those within a millionth of the largest, the first.
/// @param losses one per agent, not negative; may be infinite.
[[nodiscard]] int most_exposed(const std::vector<int>& agents, const std::vector<double>& losses);
/// Of every agent to the nearest member; -1 without members.
[[nodiscard]] std::vector<int> distances_from_members(const View& view, const Graph& graph);

/// --targets, if given, for an attack on one agent.
/// @throws ConfigError for several agents, and for an agent that does not exist or observes.
[[nodiscard]] std::optional<int> asked_target(const AuditConfig& config,
                                              const AuditSubject& subject);
/// The same for an attack on a person; empty: not given.
/// @throws ConfigError for more than `most` agents, and for one that does not exist or observes.
[[nodiscard]] std::vector<int> asked_targets(const AuditConfig& config,
                                             const AuditSubject& subject,
                                             int most);

}  // namespace sotto
