#pragma once

#include <map>
#include <vector>

#include "commands/account/account_job.hpp"

namespace sotto {

/// The worst coalition met, for each target that was outside one, and how it was looked for.
struct WorstCoalitions {
    struct Found {
        std::vector<int> members;
        SquaredSensitivity squared;
    };
    std::map<int, Found> by_target;
    CoalitionSearch search;
};

/// The coalition of query.size agents that learns most about one of the targets; see run_account
/// for how it is looked for. COLLECTIVE; every process has the result.
[[nodiscard]] WorstCoalitions find_worst_coalitions(const AccountConfig& config,
                                                    const AccountSubject& subject,
                                                    Network& network,
                                                    const ViewQuery& query,
                                                    const std::vector<int>& targets);

}  // namespace sotto
