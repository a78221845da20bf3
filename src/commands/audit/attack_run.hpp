#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "commands/audit/audit_job.hpp"
#include "commands/audit/recorded_messages.hpp"

namespace sotto {

/// The observer of --view. @throws ConfigError for a view of several observers, or one that leaves
/// nobody to learn about.
[[nodiscard]] View attacking_view(const AuditConfig& config, const Graph& graph);

/// @throws ConfigError for a --confidence that is not above 0.5 and below 1.
void require_confidence(const AuditConfig& config);

/// What the accountant says about an audit whose inputs are fixed in advance. COLLECTIVE.
[[nodiscard]] std::unique_ptr<AccountSubject> attacked_subject(const AuditConfig& config,
                                                               Network& network);
/// The run with its step sizes spelt out: messages are in their units.
/// @throws ConfigError for a mechanism whose messages go to a trusted aggregator.
[[nodiscard]] MessageProcess attacked_process(const AuditConfig& config,
                                              const AccountSubject& subject);
/// Agents that are not members of the view, ascending.
[[nodiscard]] std::vector<int> agents_outside(const View& view, int agents);
/// Of every agent from the nearest member; -1 without members.
[[nodiscard]] std::vector<int> distances_from_members(const View& view, const Graph& graph);

/// The training of an audit that contributes fixed inputs: nothing is learnt or evaluated.
[[nodiscard]] TrainConfig of_fixed_inputs(TrainConfig train);

/// A training in which the members of the view, or the wire, are recorded. COLLECTIVE.
/// @return its run directory.  @throws Error where it was interrupted.
[[nodiscard]] std::string run_recorded(TrainConfig train,
                                       const View& view,
                                       Network& network,
                                       TrainingListener& observer,
                                       const std::function<bool()>& stop_requested,
                                       const std::function<LocalTask()>& make_task);

/// Says of seeds that members hold against the plan that they do.
void add_leaks(const RecordedMessages& recorded,
               const NoisePlan& plan,
               std::vector<std::string>& findings);

}  // namespace sotto
