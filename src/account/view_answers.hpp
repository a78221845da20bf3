#pragma once

#include <vector>

#include "account/account_subject.hpp"
#include "sotto/net/network.hpp"
#include "sotto/views/view_sensitivity.hpp"

namespace sotto {

/// One observer and whom it is asked about.
struct Question {
    View view;
    std::vector<int> targets;
};
using Answers = std::vector<std::vector<SquaredSensitivity>>;  // by question, by target

/// Answers of all questions, on every process: question i is worked on by process i mod P.
/// COLLECTIVE.
[[nodiscard]] Answers answer(Network& network,
                             const AccountSubject& subject,
                             const std::vector<Question>& questions,
                             const ViewOptions& options);

/// Targets that are not members; both ascending.
[[nodiscard]] std::vector<int> without(const std::vector<int>& targets,
                                       const std::vector<int>& members);

}  // namespace sotto
