#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.hpp"
#include "graph/topography.hpp"
#include "sotto/privacy/budget.hpp"
#include "sotto/privacy/privacy_record.hpp"
#include "sotto/views/view_record.hpp"

namespace sotto {

/// Observers against whom a run of fixed inputs keeps its budgets (--protect-against): every
/// `agents` agents together, with what they receive, and what they know themselves.
struct ProtectedViews {
    View::Kind receives = View::Kind::all_messages;  ///< the eavesdropper: `agents` is 0
    int agents = 0;

    [[nodiscard]] bool partial() const { return receives != View::Kind::all_messages; }
    friend bool operator==(const ProtectedViews&, const ProtectedViews&) = default;
};

/// "eavesdropper", "node:q" or "secure-sum:q" with q from 1. @throws ConfigError.
[[nodiscard]] ProtectedViews parse_protected_views(std::string_view option, std::string_view text);

/// Relative gap at which the search for the sensitivity of a protected view stops.
inline constexpr double gap_of_protection = 1e-3;

/// Most groups of observers: all of them are examined.
inline constexpr double most_protected_views = 1000;

/// The `train --view` that shows the figures of single observers; empty for groups.
[[nodiscard]] std::string view_of(const ProtectedViews& views);

/// The pair of observers and target of which most is learnt, in shares of the target's budget.
struct WorstProtectedView {
    double share = 0;  ///< mu^2 of the view over mu^2 of the budget
    std::vector<int> observers;
    int target = 0;
    std::vector<double> shares;  ///< the largest of every agent by number; 0: not examined
};

/// Examines every group of observers that is protected against, over all rounds of the first phase.
/// Exact because inputs do not depend on messages (docs/equations.md#partial-views).
/// @param phase the plan with everybody, from the first round on.  @param budgets of every agent.
/// @param targets ascending.
/// @throws ConfigError for more than most_protected_views groups, noise without a mu, or rounds
/// whose figures are those of all messages (counts_all_messages); PrivacyError if a view contains a
/// noiseless function of a target's input. Cost: view_sensitivity of every group.
[[nodiscard]] WorstProtectedView worst_protected_view(const ProtectedViews& views,
                                                      const TrainConfig& config,
                                                      const Topography& topography,
                                                      const PrivacyPhase& phase,
                                                      const std::vector<PrivacyBudget>& budgets,
                                                      std::span<const int> targets);

}  // namespace sotto
