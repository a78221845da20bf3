#pragma once

#include <span>

#include "account/protected_views.hpp"
#include "config/config.hpp"
#include "net/network.hpp"
#include "training/participants.hpp"
#include "training/prepare_run.hpp"

namespace sotto {

/// Adds the figures of observers that are protected against to the ledger's views. COLLECTIVE.
/// @throws ConfigError where --protect-against asks for what no figure promises.
void protect_views(TrainConfig& config, Network& network);

/// Gives a plan that was solved the least noise found with which every view meets its budget. mu of
/// every view is inversely proportional to the noise, so the worst one scales it. Then agents of
/// whom all views learn less get larger budgets against all messages, the plan is solved again and
/// scaled, while that leaves less noise (docs/equations.md#averaging). LOCAL.
/// Cost: up to ten times worst_protected_view. @throws as worst_protected_view.
void fit_to_views(const ProtectedViews& views,
                  AgreedPhase& phase,
                  const TrainConfig& config,
                  const Participants& there);

/// Lets this process check that no view learns more about its agents than their budgets allow, and
/// makes the budgets what the plan reveals to somebody who sees all messages. LOCAL.
/// @param phase with process 0's plan, and counted for it.  @param local places of this process.
/// @throws PrivacyError; as worst_protected_view.
void take_budgets_of_views(const ProtectedViews& views,
                           AgreedPhase& phase,
                           const TrainConfig& config,
                           const Participants& there,
                           std::span<const int> local,
                           int coalition_size);

}  // namespace sotto
