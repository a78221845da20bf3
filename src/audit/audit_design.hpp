#pragma once

#include "audit/audit_config.hpp"
#include "audit/audit_subject.hpp"
#include "audit/canaries.hpp"

namespace sotto {

/// Chooses target, hypotheses and number of trials for a run whose inputs are fixed in advance, and
/// says what the accountant says. The same on every process.
/// @throws ConfigError for a target, hypothesis, width or number of trials that does not exist.
[[nodiscard]] AuditDesign design_audit(const AuditConfig& config, const AuditSubject& subject);

/// A design with what the accountant says about it: mu_theory, epsilon_theory, the claim and its
/// argument.
[[nodiscard]] AuditDesign accounted(AuditDesign design, const AuditSubject& subject, int threads);

}  // namespace sotto
