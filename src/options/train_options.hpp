#pragma once

#include <set>
#include <string>
#include <string_view>

#include "config/config.hpp"
#include "options/option_set.hpp"

namespace sotto {

/// All options of a training, with their groups as they are now.
[[nodiscard]] OptionSet<TrainConfig> train_option_set();

/// A configuration with the defaults of its task where nothing is given, checked.
/// @param kept names of options that nobody gave now: they are as the run was started with that is
/// taken up.  @throws ConfigError naming the option, the text and what is allowed; also for values
/// that config.ini could not hold.
[[nodiscard]] TrainConfig read_train_config(const OptionTexts& given,
                                            const std::set<std::string>& kept = {});

/// config.ini of a run, which starts it again: every option that reproduces it, with its value.
/// @throws ConfigError for a value that the format cannot hold.
[[nodiscard]] std::string as_ini(const TrainConfig& config);

/// What all ranks of a training must have in common, one option a line: what decides which calls
/// the processes make together, or, for shards that are disjoint and a common start, must be the
/// same (OptionFacts::ranks_must_agree).
[[nodiscard]] std::string agreement_lines(const TrainConfig& config);

/// Whether what a training comes to depends on the option (OptionFacts::changes_results); true of
/// one that does not exist.
[[nodiscard]] bool changes_results(std::string_view option);

/// The options that an agent decides on for itself, as they are here, by name: those that protect
/// it, name its data or programs it executes (OptionFacts::peers_may_set), and those that are its
/// own with secure sums.
[[nodiscard]] OptionTexts own_options(const TrainConfig& config);
/// Whether an agent decides on this option for itself only with secure sums
/// (OptionFacts::shapes_sums).
[[nodiscard]] bool is_own_with_secure_sums_only(std::string_view name);

}  // namespace sotto
