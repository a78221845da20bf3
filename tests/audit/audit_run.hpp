#pragma once

// Whole audits in this process.

#include <memory>

#include "audit/audit_job.hpp"
#include "config/run_fixtures.hpp"
#include "planning/planning.hpp"

namespace sotto::test {

inline AuditOutcome audit_outcome(const AuditConfig& config) {
    const auto network = make_memory_network(agents_of(config.train.graph), config.train.threads);
    TrainingListener observer;
    return run_audit(config, *network, observer, [] { return false; });
}

/// What process 0 found. @tparam Result of the configured attack.
template <class Result>
Result audit(const AuditConfig& config) {
    return dynamic_cast<const Result&>(*audit_outcome(config).result);
}

}  // namespace sotto::test
