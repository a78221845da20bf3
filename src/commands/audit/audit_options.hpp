#pragma once

#include <string>

#include "commands/audit/audit_config.hpp"
#include "run/options/option_set.hpp"

namespace sotto {

[[nodiscard]] OptionGroup<AuditConfig>& audit_options();
[[nodiscard]] OptionSet<AuditConfig> audit_option_set();

/// What the attack asks for where the user does not.
[[nodiscard]] OptionTexts with_attack_defaults(OptionTexts given);

/// Checked. @throws ConfigError, also for an option of task or audit that means nothing to the
/// attack.
[[nodiscard]] AuditConfig read_audit_config(const OptionTexts& given);

/// config.ini of an audit's run, which starts the audit again.
/// @throws ConfigError for a value that the format cannot hold.
[[nodiscard]] std::string as_ini(const AuditConfig& config);

}  // namespace sotto
