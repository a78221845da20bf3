#pragma once

#include <functional>
#include <memory>

#include "audit/audit_config.hpp"
#include "audit/audit_result.hpp"
#include "sotto/net/network.hpp"
#include "training/training.hpp"

namespace sotto {

/// What processes know after an audit.
struct AuditOutcome {
    bool consistent = true;
    std::unique_ptr<const AuditResult> result;  ///< process 0 alone
};

/// The whole audit: the run that config.attack looks at, with real messages and recordings of the
/// view; analysis on process 0; audit.json and what the attack keeps in the run directory. With
/// config.run the analysis only, of the view that is asked; nothing is written. COLLECTIVE.
/// @throws ConfigError for an attack or view that does not exist, as its AttackRecord, and as
/// run_training; DataError for recordings that are missing or of another run.
[[nodiscard]] AuditOutcome run_audit(const AuditConfig& config,
                                     Network& network,
                                     TrainingListener& observer,
                                     const std::function<bool()>& stop_requested);

}  // namespace sotto
