#pragma once

#include <string>
#include <string_view>

#include "audit/audit_job.hpp"
#include "options/option_set.hpp"

namespace sotto {

[[nodiscard]] OptionGroup<AuditConfig>& audit_options();
[[nodiscard]] OptionSet<AuditConfig> audit_option_set();

/// Adds the attack's own defaults.
[[nodiscard]] OptionTexts with_attack_defaults(OptionTexts given);

/// Whether the attack that is asked for looks at a training that has ended: its configuration is
/// that of --run. @throws ConfigError for an unknown attack.
[[nodiscard]] bool attacks_training(const OptionTexts& given);

/// @throws ConfigError, also for an option of task or audit that has no meaning for the attack, and
/// as train_config_of_run for an attack of trainings.
[[nodiscard]] AuditConfig read_audit_config(const OptionTexts& given);

/// config.ini of an audit's run, which starts the audit again.
/// @throws ConfigError for a value that the format cannot hold.
[[nodiscard]] std::string as_ini(const AuditConfig& config);

/// The configuration of a run, from config.ini of its directory, as `sotto train` or `sotto audit`
/// wrote it. LOCAL. @throws ConfigError.
[[nodiscard]] TrainConfig train_config_of_run(std::string_view option,
                                              const std::string& directory);

}  // namespace sotto
