#pragma once

#include <map>
#include <optional>
#include <vector>

#include "account/account_job.hpp"
#include "account/account_result.hpp"
#include "account/account_subject.hpp"
#include "net/network.hpp"
#include "sotto/views/view_losses.hpp"
#include "sotto/views/view_sensitivity.hpp"

namespace sotto {

/// Up to how many coalitions worst-coalition:q looks at every one.
inline constexpr double most_coalitions_searched = 1000;

/// The worst coalition met, for each target that was outside one, and how it was looked for.
struct WorstCoalitions {
    struct Found {
        std::vector<int> members;
        SquaredSensitivity squared;
    };
    std::map<int, Found> by_target;
    CoalitionSearch search;
};

/// The coalition of the query's size that learns most about one of the targets. Above
/// most_coalitions_searched coalitions it is looked for greedily (agent by agent, the one that adds
/// most to the largest mu over the targets), then single members are exchanged for others as long
/// as that helps: a lower bound of the worst. It ends early where the upper bound is reached: all
/// messages seen, with the seeds of the worst coalition, or, where these are too many to try, with
/// every shared seed known. COLLECTIVE; every process has the result.
[[nodiscard]] WorstCoalitions find_worst_coalitions(const ViewQuery& query,
                                                    const std::vector<int>& targets,
                                                    const AccountSubject& subject,
                                                    const ViewOptions& how,
                                                    Network& network);

/// What is learnt from all messages but those that are missing (--dropouts, --missing), about every
/// target by whichever of the query's observers learns most, with its seeds; nothing where neither
/// is asked for. LOCAL. @throws ConfigError where both are, for noise and departures that
/// dropout_precision does not cover, and as it and worst_dropout_precision.
[[nodiscard]] std::optional<DropoutAccount> account_for_dropouts(const AccountConfig& config,
                                                                 const AccountSubject& subject,
                                                                 const ViewQuery& query,
                                                                 const std::vector<int>& targets);

}  // namespace sotto
