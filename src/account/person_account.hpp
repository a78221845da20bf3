#pragma once

#include <optional>
#include <vector>

#include "account/account_job.hpp"
#include "account/account_result.hpp"
#include "account/account_subject.hpp"

namespace sotto {

/// What is revealed about persons with records at up to --unit-agents of the targets, to whichever
/// of the query's observers learns most, if it sees every message and has its members' seeds;
/// nothing for K = 1. Of a run with several phases and surveys, the sum over them of the worst
/// person's loss in each. LOCAL.
/// @throws ConfigError as require_possible_persons, and for departures that are options.
[[nodiscard]] std::optional<PersonAccount> account_for_persons(const AccountConfig& config,
                                                               const AccountSubject& subject,
                                                               const ViewQuery& query,
                                                               const std::vector<int>& targets);

}  // namespace sotto
