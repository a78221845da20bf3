#include "planning/sampling_gain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sotto/design/mechanism.hpp"
#include "sotto/privacy/temporal_sensitivity.hpp"

namespace sotto {

namespace {

/// The sampled noise for an epsilon grows more slowly than the root of the rounds: what this many
/// rounds gain, more gain too. Keeps a statement below a second.
constexpr long most_counted_rounds = 1'000'000;

bool promises_an_epsilon(const PlanConfig& config, const PrivacyBudget& budget) {
    return !config.noise_std && budget.epsilon > 0 && budget.calibration == Calibration::exact &&
           budget.noise == StreamDistribution::gaussian;
}

/// Whether its rounds are independent noise on gradients. A plan file says itself what it is, when
/// it is read.
bool can_be_sampled(const PlanConfig& config) {
    const Mechanism* const mechanism = mechanisms().look_up(config.mechanism);
    return mechanism != nullptr && mechanism->independent_rounds();
}

/// Noise on gradients for this distance, in its units; the distances of two budgets compare.
double noise_of(double sensitivity, double rounds, const PrivacyLoss& limit) {
    return sensitivity *
           std::sqrt(rounds / largest_squared_distance(StreamDistribution::gaussian, limit));
}

PrivacyLoss unsampled_limit(const PrivacyBudget& budget) {
    return make_budget(budget.noise, budget.epsilon, budget.delta, budget.calibration).limit;
}

}  // namespace

std::optional<double> sampling_gain(const PlanConfig& config, const PrivacyBudget& budget) {
    if (!config.participation.poisson || config.client_probability ||
        !promises_an_epsilon(config, budget))
        return std::nullopt;
    return noise_of(1, static_cast<double>(config.rounds), unsampled_limit(budget)) /
           noise_of(1,
                    temporal_sensitivity_squared({}, config.participation, config.rounds),
                    budget.limit);
}

std::optional<double> gain_of_switching(const PlanConfig& config,
                                        const PrivacyBudget& budget,
                                        const Exposure& exposure,
                                        Eigen::Index records) {
    if (protects_agents(config.adjacency) || config.participation.poisson ||
        !promises_an_epsilon(config, budget) || !can_be_sampled(config) ||
        exposure.batch_size >= records)
        return std::nullopt;
    const Exposure sampled = agent_exposure(Adjacency::record_add_remove,
                                            {.cycle = 1, .poisson = true},
                                            config.clip_norm,
                                            config.rounds,
                                            records,
                                            exposure.batch_size);
    const PrivacyBudget asked =
        make_budget(budget.noise, budget.epsilon, budget.delta, budget.calibration);
    const PrivacyLoss limit =
        sampled_budget(
            asked, sampled.sampling_probability, std::min(config.rounds, most_counted_rounds))
            .limit;
    return noise_of(exposure.sensitivity, exposure.sensitivity_squared_over_rounds, asked.limit) /
           noise_of(sampled.sensitivity, static_cast<double>(config.rounds), limit);
}

std::vector<std::string> sampling_statements(const PlanConfig& config,
                                             const std::vector<Exposure>& exposures,
                                             const std::vector<PrivacyBudget>& budgets,
                                             const std::vector<Eigen::Index>& records) {
    std::optional<double> least;
    for (const PrivacyBudget& budget : budgets)
        if (const auto gain = sampling_gain(config, budget); gain && !(least && *least <= *gain))
            least = gain;
    if (least)
        return {fmt::format(
            "Batches that are sampled in secret need {:.3g} times less noise than if every record "
            "counted in every round.",
            *least)};
    if (records.empty()) return {};
    // It gains least who has fewest records for its batches.
    const auto place =
        static_cast<std::size_t>(std::ranges::min_element(records) - records.begin());
    const auto gain = gain_of_switching(config, budgets[place], exposures[place], records[place]);
    if (!gain || *gain <= 1) return {};
    return {fmt::format(
        "The same epsilon for a record added or removed would need {:.3g} times less noise with "
        "batches that are sampled in secret: --adjacency record-add-remove --participation "
        "poisson.",
        *gain)};
}

}  // namespace sotto
