#pragma once

#include <optional>
#include <string>
#include <vector>

#include "account/account_job.hpp"
#include "options/option_set.hpp"

namespace sotto {

/// The options of `sotto account`.
struct AccountOptions {
    AccountConfig account;
    std::optional<std::string> run;  ///< directory of the training to account for
    /// Files with A and B of observations O = A G + B Z, instead of a plan.
    std::optional<std::string> observation_a, observation_b;
    std::optional<double> mu;  ///< to convert into epsilon
    /// Of secretly sampled rounds, to convert into epsilon.
    std::optional<double> noise_multiplier;
    std::optional<std::string> sampled_rounds;  ///< the same for several phases
    std::optional<long> allocation, epochs;     ///< the same for random allocation
    std::optional<double> private_choice;       ///< to convert into what a choice costs
    double choice_shape = 1;
    std::optional<std::string> by_distance;
    int asked_threads = 0;

    /// Whether to account for given matrices A and B.
    [[nodiscard]] bool of_matrices() const { return observation_a || observation_b; }
};

[[nodiscard]] OptionGroup<AccountOptions>& account_options();
[[nodiscard]] OptionSet<AccountOptions> account_option_set();

/// Reads and checks the options, except what only a run directory tells. @throws ConfigError.
[[nodiscard]] AccountOptions read_account_options(const OptionTexts& given);

/// Whether the options only ask for a conversion: `--mu`, secretly sampled rounds, or `--epsilon`
/// without other options that change results (`--delta` and those of a private choice may stand).
[[nodiscard]] bool converts_only(const OptionTexts& given);
/// Whether the options ask for a conversion of secretly sampled rounds.
[[nodiscard]] bool converts_sampled_rounds(const OptionTexts& given);

}  // namespace sotto
