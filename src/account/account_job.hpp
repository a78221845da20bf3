#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "account/account_result.hpp"
#include "account/account_subject.hpp"
#include "account/ledger_views.hpp"
#include "net/control.hpp"
#include "privacy/private_choice.hpp"
#include "sotto/privacy/budget.hpp"
#include "sotto/privacy/privacy_loss.hpp"

namespace sotto {

struct AccountConfig {
    SubjectConfig subject;
    std::string view = "all-nodes";
    std::string targets = "all";
    AskOptions how;
    std::optional<int> dropouts;  ///< number of agents whose messages may be missing in a round
    std::string missing;          ///< or those missing in every round: "a,b"
};

/// Runs the accountant; observers are divided among processes and threads; worst coalitions as
/// find_worst_coalitions. COLLECTIVE; every process has the result.
/// @throws ConfigError as parse_view, and for targets that observe, or if none is left.
[[nodiscard]] AccountResult run_account(const AccountConfig& config,
                                        const AccountSubject& subject,
                                        Control& network);

/// Figures of observations O = A G + B Z from .npy files ([U] definition 5); A has `agents` columns
/// per round. The result has no observers and no distances.
[[nodiscard]] AccountResult account_matrices(const std::string& a_file,
                                             const std::string& b_file,
                                             int agents,
                                             const std::string& targets,
                                             double sensitivity,
                                             const Participation& participation,
                                             double delta);

/// A guarantee against one Gaussian observation, in all units.
struct Conversion {
    double mu = 0, epsilon = 0, delta = 0;
    double rdp_epsilon = 0;  ///< by Renyi divergence
};
/// @param mu, epsilon > 0.  @param delta in (0, 1).
[[nodiscard]] Conversion convert_mu(double mu, double delta);
[[nodiscard]] Conversion convert_epsilon(double epsilon, double delta);

/// As JSON text, and as text for people.
[[nodiscard]] std::string conversion_json(const Conversion& conversion);
[[nodiscard]] std::string conversion_text(const Conversion& conversion);

struct SampledConversion {
    std::vector<SampledRounds> rounds;
    double epsilon = 0;        ///< certified upper bound
    double epsilon_lower = 0;  ///< no smaller epsilon holds
    double delta = 0;
    /// Of random allocation: what Poisson sampling with the same noise, number of rounds and
    /// expected batches costs.
    std::optional<double> poisson_epsilon;
};

/// S:q:T,S:q:T: noise multiplier, sampling probability and rounds of every phase.
/// @throws ConfigError naming option and problem.
[[nodiscard]] std::vector<SampledRounds> parse_sampled_rounds(std::string_view option,
                                                              std::string_view text);

/// @throws ConfigError unless 0 < q <= 1.
void require_sampling_probability(std::string_view option, double probability);

[[nodiscard]] SampledConversion convert_sampled_rounds(std::span<const SampledRounds> rounds,
                                                       double delta);
/// Uses the smallest noise multiplier that keeps `count` rounds within `epsilon`.
[[nodiscard]] SampledConversion convert_sampled_budget(double epsilon,
                                                       double delta,
                                                       double probability,
                                                       long count);

/// The same for epochs of random allocation.
[[nodiscard]] SampledConversion convert_allocation(double noise_multiplier,
                                                   long rounds_an_epoch,
                                                   long epochs,
                                                   double delta);
[[nodiscard]] SampledConversion convert_allocated_budget(double epsilon,
                                                         double delta,
                                                         long rounds_an_epoch,
                                                         long epochs);

/// As JSON text, in which figures that differ between phases are null, and as text for people.
[[nodiscard]] std::string sampled_conversion_json(const SampledConversion& conversion);
[[nodiscard]] std::string sampled_conversion_text(const SampledConversion& conversion);

/// What it costs to publish the best of a random number of trainings (choice_cost).
struct ChoiceConversion {
    TrainingCount count;
    ChoiceCost cost;
    /// Where losses are Gaussian: epsilon of one training for which the choice costs `cost.one`.
    std::optional<double> epsilon_for_the_same;
};
[[nodiscard]] ChoiceConversion convert_choice(const PrivacyLoss& training,
                                              const TrainingCount& count,
                                              double delta);
[[nodiscard]] std::string choice_conversion_json(const ChoiceConversion& conversion);
[[nodiscard]] std::string choice_conversion_text(const ChoiceConversion& conversion);

}  // namespace sotto
