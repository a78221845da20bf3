#pragma once

#include <string>
#include <string_view>

#include "config/config.hpp"
#include "options/option.hpp"
#include "options/option_parser.hpp"
#include "options/option_set.hpp"

namespace sotto {

/// All options of a training, in their current groups.
[[nodiscard]] OptionSet<TrainConfig> train_option_set();
/// The group for evaluation, recordings, checkpoints and the run to resume.
[[nodiscard]] OptionGroup<TrainConfig>& run_options();

/// Reads and checks a configuration, with the defaults of its task.
/// @throws ConfigError naming the option, the text and what is allowed; also for values that
/// config.ini cannot hold.
[[nodiscard]] TrainConfig read_train_config(const OptionTexts& given);

/// config.ini of a run, with the value of every option that reproduces it.
/// @throws ConfigError for a value that the format cannot hold.
[[nodiscard]] std::string as_ini(const TrainConfig& config);

/// The options that all ranks of a training need in common, one per line: they decide which calls
/// the processes make together, or must be equal for disjoint shards and a common start
/// (OptionFacts::ranks_must_agree).
[[nodiscard]] std::string agreement_lines(const TrainConfig& config);

/// Whether the option affects the result of a training (OptionFacts::changes_results); true for an
/// unknown one.
[[nodiscard]] bool changes_results(std::string_view option);

/// The options that an agent sets for itself, by name, with their values here: those that protect
/// it, name its data or programs it executes (OptionFacts::peers_may_set), and with secure sums
/// those that are then its own.
[[nodiscard]] OptionTexts own_options(const TrainConfig& config);
/// Whether an agent sets this option for itself only with secure sums (OptionFacts::shapes_sums).
[[nodiscard]] bool is_own_with_secure_sums_only(std::string_view name);

/// Reads config.ini of a run directory. LOCAL. @throws ConfigError naming the option that gave the
/// directory if there is none.
[[nodiscard]] ConfigText config_of_run(std::string_view option, const std::string& directory);
/// Refuses options that no run keeps in its config.ini (OptionFacts::reproduces_run), such as which
/// agents leave or how long ranks wait: each start has its own, and over MPI the text is from a
/// peer.
/// @throws ConfigError naming source and option, and for an invalid configuration.
void require_kept_options(const ConfigText& of_run);
/// Reads a configuration file of `sotto train`, or a part of one. @throws ConfigError.
[[nodiscard]] TrainConfig train_config_of(const ConfigText& config);

// Checks of options against each other. The declaration of an option checks its own value.

/// @throws ConfigError for units of records (--unit-column) if agents are protected as a whole.
void require_records_of_units(const TrainConfig& config);

/// A given standard deviation of the noise excludes a budget. @throws ConfigError.
void require_one_source_of_noise(const PlanConfig& config);
/// A covariance file belongs to a mechanism that takes one. @throws ConfigError.
void require_covariance_file(const PlanConfig& config);
/// Authentication needs both files. @throws ConfigError.
void require_roster_with_identity(const TrainConfig& config);
/// Agents can leave, and a run can finish early, only on resume. @throws ConfigError.
void require_resumed_run(const TrainConfig& config);
/// Only a dry run can predict a network. @throws ConfigError.
void require_dry_run_with_network(const TrainConfig& config);
/// Padded rounds need secretly sampled batches. @throws ConfigError.
void require_sampling_with_padding(const TrainConfig& config);
/// Runs all of these checks.
void settle_train_config(TrainConfig& config);

/// --secure-sum for any configuration with a member `secure_sum`.
template <class Config>
[[nodiscard]] Option<Config> secure_sum_option() {
    return {{.name = "secure-sum",
             .help = "{}: agents learn only weighted sums of their neighbours' messages",
             .details = R"(
What sums hide depends on the graph, its schedule and who colludes. It is computed and printed, and `on` is refused if sums
hide nothing from `--coalition-size` colluders (at least one) ([security](../security.md)). Each rank builds graph and
mixing from its own options and compares them with rank 0's. `--mask-partners H` limits the cost in neighbourhoods larger
than 2H + 1. Secure sums are not possible with `cdp` and `dp-fedavg`.)",
             .ranks_must_agree = true,
             .peers_may_set = false},
            bound(&Config::secure_sum, on_off())};
}

/// --mask-partners for any configuration with a member `mask_partners`.
template <class Config>
[[nodiscard]] Option<Config> mask_partners_option() {
    return {
        {.name = "mask-partners",
         .help = "secure-sum: mask partners H on each side; up to 2H+1 neighbours are all partners "
                 "of each other, and above that a sum withstands 2H-1 colluding agents",
         .ranks_must_agree = true,
         .peers_may_set = false},
        bound(&Config::mask_partners, whole(1, 100000))};
}

}  // namespace sotto
