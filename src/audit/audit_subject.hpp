#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "account/account_subject.hpp"
#include "audit/audit_job.hpp"
#include "graph/topography.hpp"
#include "net/network.hpp"
#include "sotto/views/view_record.hpp"

namespace sotto {

/// The run an audit looks at, and who looks. The same on every process.
struct AuditSubject {
    View view;
    Topography topography;
    /// Of a run whose inputs are fixed in advance, what the accountant says about it; null of a
    /// training, whose plan depends on the data.
    std::unique_ptr<AccountSubject> account;
    /// That run with its step sizes spelt out: messages are in their units. Points to `account`.
    MessageProcess process;
    std::string view_name;  ///< of `view`; where the worst coalition was asked for, whom it was
};

/// Builds the graph and, for inputs fixed in advance, solves the plan, and finds the coalition that
/// learns most (find_worst_coalitions) about config.target, or about anybody, where that is the
/// view. COLLECTIVE.
/// @throws ConfigError for a --confidence that is not above 0.5 and below 1, a view of several
/// observers or one that leaves nobody to learn about, and a --participation that the attack is not
/// about; with inputs fixed in advance also for a
/// mechanism whose messages go to a trusted aggregator, fewer than 2 agents, and mixing that
/// changes.
[[nodiscard]] AuditSubject build_audit_subject(const AuditConfig& config,
                                               bool fixed_inputs,
                                               Network& network);

/// Agents that are not members of the view, ascending.
[[nodiscard]] std::vector<int> agents_outside(const View& view, int agents);
/// The agent of whom most is learnt. Optimal noise leaves many agents the same loss but for
/// rounding, which differs between machines: of those within a millionth of the largest, the first.
/// @param losses one an agent, not negative; may be infinite.
[[nodiscard]] int most_exposed(const std::vector<int>& agents, const std::vector<double>& losses);
/// Of every agent from the nearest member; -1 without members.
[[nodiscard]] std::vector<int> distances_from_members(const View& view, const Graph& graph);

/// --target, where it is given. @throws ConfigError for no agent, and for one that observes.
[[nodiscard]] std::optional<int> asked_target(const AuditConfig& config,
                                              const AuditSubject& subject);

}  // namespace sotto
