#pragma once

#include <optional>
#include <string>
#include <vector>

#include "account/account_job.hpp"
#include "options/option_set.hpp"

namespace sotto {

/// What `sotto account` understands.
struct AccountOptions {
    AccountConfig account;
    std::optional<std::string> run;  ///< directory of the training to account for
    /// Files of A and B of observations O = A G + B Z, instead of a plan.
    std::optional<std::string> observation_a, observation_b;
    std::optional<double> mu;  ///< to convert into epsilon
    /// Of secretly sampled rounds, to convert into epsilon, or to find the noise of.
    std::optional<double> noise_multiplier;
    std::optional<std::string> sampled_rounds;  ///< the same of several phases
    std::optional<std::string> by_distance;
    int asked_threads = 0;

    /// Somebody else's system.
    [[nodiscard]] bool of_matrices() const { return observation_a || observation_b; }
};

[[nodiscard]] OptionGroup<AccountOptions>& account_options();
[[nodiscard]] OptionSet<AccountOptions> account_option_set();

/// Checked, but for what only a run's directory says. @throws ConfigError.
[[nodiscard]] AccountOptions read_account_options(const OptionTexts& given);

/// Whether there is nothing to account for: `--mu M --delta D`, or `--epsilon E --delta D` and no
/// other option that counts.
[[nodiscard]] bool converts_only(const OptionTexts& given);
/// Whether these are secretly sampled rounds.
[[nodiscard]] bool converts_sampled_rounds(const OptionTexts& given);

}  // namespace sotto
