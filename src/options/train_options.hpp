#pragma once

#include <string>
#include <string_view>

#include "config/config.hpp"
#include "options/option.hpp"
#include "options/option_parser.hpp"
#include "options/option_set.hpp"

namespace sotto {

/// All options of a training, with their groups as they are now.
[[nodiscard]] OptionSet<TrainConfig> train_option_set();

/// A configuration with the defaults of its task where nothing is given, checked.
/// @throws ConfigError naming the option, the text and what is allowed; also for values
/// that config.ini could not hold.
[[nodiscard]] TrainConfig read_train_config(const OptionTexts& given);

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

/// config.ini of a run's directory. LOCAL. @throws ConfigError naming the option that gave the
/// directory if there is none.
[[nodiscard]] ConfigText config_of_run(std::string_view option, const std::string& directory);
/// Refuses options that no run keeps in its config.ini (OptionFacts::reproduces_run), such as who
/// leaves or how long ranks wait: each start has its own, and over MPI the text is a peer's.
/// @throws ConfigError naming source and option, and for a text that is no configuration.
void require_kept_options(const ConfigText& of_run);
/// What `sotto train` reads from a configuration file, or from a part of one. @throws ConfigError.
[[nodiscard]] TrainConfig train_config_of(const ConfigText& config);

// What options must be to each other; what one must be by itself is in its declaration.

/// @throws ConfigError for units of records (--unit-column) where agents are protected as a whole.
void require_records_of_units(const TrainConfig& config);

/// Noise of a given standard deviation leaves no room for a budget. @throws ConfigError.
void require_one_source_of_noise(const PlanConfig& config);
/// A mechanism has the covariance that it takes, and no other has one. @throws ConfigError.
void require_covariance_file(const PlanConfig& config);
/// Agents prove who they are with both files, or with none. @throws ConfigError.
void require_roster_with_identity(const TrainConfig& config);
/// Agents leave a run that is resumed, or it ends; no other. @throws ConfigError.
void require_resumed_run(const TrainConfig& config);
/// Only a dry run imagines a network. @throws ConfigError.
void require_dry_run_with_network(const TrainConfig& config);
/// Rounds are padded where nobody knows the size of a batch. @throws ConfigError.
void require_sampling_with_padding(const TrainConfig& config);
/// All of them.
void settle_train_config(TrainConfig& config);

/// Whether agents learn sums only: of any configuration with a member `secure_sum`.
template <class Config>
[[nodiscard]] Option<Config> secure_sum_option() {
    return {{.name = "secure-sum",
             .help = "{}: agents learn only weighted sums of their neighbours' messages",
             .details = R"(
What sums hide depends on the graph, its schedule and who colludes; it is computed and said, and where they hide
nothing from `--coalition-size` colluders (one at least) `on` is refused ([security](../security.md)). Each rank builds
graph and mixing from its own options and compares them with rank 0's. `--mask-partners H` bounds the cost in
neighbourhoods above 2H + 1. Not with `cdp` and `dp-fedavg`.)",
             .ranks_must_agree = true,
             .peers_may_set = false},
            bound(&Config::secure_sum, on_off())};
}

/// How many share masks: of any configuration with a member `mask_partners`.
template <class Config>
[[nodiscard]] Option<Config> mask_partners_option() {
    return {{.name = "mask-partners",
             .help = "secure-sum: mask partners H on each side; up to 2H+1 neighbours all are "
                     "joined, above a sum withstands 2H-1 colluding ones",
             .ranks_must_agree = true,
             .peers_may_set = false},
            bound(&Config::mask_partners, whole(1, 100000))};
}

}  // namespace sotto
