#pragma once

#include <map>
#include <optional>
#include <vector>

#include "account/account_job.hpp"
#include "account/account_result.hpp"
#include "account/account_subject.hpp"
#include "net/control.hpp"
#include "sotto/views/view_losses.hpp"
#include "sotto/views/view_sensitivity.hpp"

namespace sotto {

/// worst-coalition:q evaluates every coalition if there are at most so many.
inline constexpr double most_coalitions_searched = 1000;

/// The worst coalition found for each target outside it, and the search.
struct WorstCoalitions {
    struct Found {
        std::vector<int> members;
        SquaredSensitivity squared;
    };
    std::map<int, Found> by_target;
    CoalitionSearch search;
};

/// The coalition of the query's size that learns most about one of the targets. Above
/// most_coalitions_searched coalitions the search is greedy (each step adds the agent that most
/// increases the largest mu), then exchanges single members while that helps: a lower bound of the
/// worst. It ends early at the upper bound: all messages seen, with the seeds of the worst
/// coalition, or, if these are too many to try, with every shared seed.
///
/// With all messages seen and a large plan (large_pairwise_noise) nothing is searched: the figures
/// are bounds for every coalition (local_precisions), and coalitions near each target are named.
/// COLLECTIVE; every process has the result.
[[nodiscard]] WorstCoalitions find_worst_coalitions(const ViewQuery& query,
                                                    const std::vector<int>& targets,
                                                    const AccountSubject& subject,
                                                    const AskOptions& how,
                                                    Control& network);

/// What is learnt from all messages except missing ones (--dropouts, --missing), about every target
/// by whichever of the query's observers learns most, with its seeds; nothing without these
/// options. LOCAL. @throws ConfigError for both options, for noise and departures that
/// dropout_precision does not cover, and as it and worst_dropout_precision.
[[nodiscard]] std::optional<DropoutAccount> account_for_dropouts(const AccountConfig& config,
                                                                 const AccountSubject& subject,
                                                                 const ViewQuery& query,
                                                                 const std::vector<int>& targets);

}  // namespace sotto
