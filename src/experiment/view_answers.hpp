#pragma once

#include <span>
#include <vector>

#include "sotto/experiment/account_job.hpp"

namespace sotto {

/// One observer and whom it is asked about.
struct Question {
    View view;
    std::vector<int> targets;
};
using Answers = std::vector<std::vector<SquaredSensitivity>>;  // by question, by target

/// What one view shows of the targets in a run that goes on for process.rounds() rounds; mu, or
/// under Laplace noise a pure epsilon, is Delta sqrt(certified()). Gaussian noise:
/// view_sensitivity. Laplace noise: run_sensitivity_squared times observed_precision, all messages
/// seen with the seeds of the members, summed over phases. Less than that shows no more, so it
/// bounds every view.
/// @throws as both; PrivacyError for secure sums of messages that depend on the receiver.
[[nodiscard]] std::vector<SquaredSensitivity> view_losses(const MessageProcess& process,
                                                          const PlanUse& use,
                                                          const View& view,
                                                          std::span<const int> targets,
                                                          const ViewOptions& options);

/// Answers of all questions, on every process: question i is worked on by process i mod P.
/// COLLECTIVE.
[[nodiscard]] Answers answer(Network& network,
                             const AccountSubject& subject,
                             const std::vector<Question>& questions,
                             const AccountConfig& config);

/// Targets that are not members; both ascending.
[[nodiscard]] std::vector<int> without(const std::vector<int>& targets,
                                       const std::vector<int>& members);

}  // namespace sotto
