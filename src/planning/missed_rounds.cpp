#include "planning/missed_rounds.hpp"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "planning/plan_input.hpp"
#include "sotto/core/error.hpp"
#include "sotto/design/dropout_utility.hpp"
#include "sotto/privacy/accountant.hpp"

namespace sotto {

namespace {

[[noreturn]] void refuse_beside_dropouts(std::string_view option,
                                         std::string_view value,
                                         std::string_view allowed) {
    throw ConfigError(fmt::format(
        "{}: {} is not possible with --dropout-probability (allowed: {})", option, value, allowed));
}

/// Tr(M R) where the smallest kappa is 1.
double objective_of(const NoisePlan& plan, const Eigen::MatrixXd& utility, double kappa) {
    return utility.cwiseProduct(spatial_covariance(plan)).sum() * kappa;
}

}  // namespace

std::string text_of(const MissedRounds& missed) {
    std::string text = fmt::format(
        "dropouts   every agent misses a round with probability {:g}: counted in what survives "
        "(not of the trusted\n           aggregator); if none ever does, {:.6g} does",
        missed.probability,
        missed.nobody_missing);
    if (missed.planned_without)
        text +=
            fmt::format("; of the plan made for that, {:.6g} would here", *missed.planned_without);
    return text + fmt::format(
                      "\n           {:.6g} where streams shared with the missing are published and "
                      "subtracted\n",
                      missed.published);
}

void require_possible_dropouts(const PlanConfig& config, const Topography& topography) {
    const Mechanism& mechanism = find_mechanism("mechanism", config.mechanism);
    if (!mechanism.independent_rounds() || mechanism.aggregation != Aggregation::gossip)
        refuse_beside_dropouts("mechanism",
                               mechanism.name,
                               "independent noise of rounds on gradients, as of ldp, decor, corn, "
                               "corn-hbc, pairs");
    if (config.choose_gossip_steps || config.gossip_steps != 1)
        refuse_beside_dropouts(
            "gossip-steps",
            config.choose_gossip_steps ? "auto" : std::to_string(config.gossip_steps),
            "1");
    if (config.momentum > 0)
        refuse_beside_dropouts("momentum", fmt::format("{:g}", config.momentum), "0");
    if (!config.average.none()) refuse_beside_dropouts("average", name_of(config.average), "none");
    if (!config.final_gossip || *config.final_gossip > 0)
        refuse_beside_dropouts("final-gossip",
                               config.final_gossip ? std::to_string(*config.final_gossip) : "auto",
                               "0");
    if (!topography.later_mixing.empty())
        refuse_beside_dropouts("mixing-schedule", "one that changes", "fixed");
    if (topography.mixing.push_sum())
        refuse_beside_dropouts("mixing", "push-sum", "weights whose rows sum to 1");
}

PlannedNoise plan_for_missed_rounds(const PlanConfig& config,
                                    const Topography& topography,
                                    const std::vector<Exposure>& exposures,
                                    const std::vector<PrivacyBudget>& budgets,
                                    double probability) {
    require_possible_dropouts(config, topography);
    std::optional<NoisePlan> given = read_given_plan(config, topography.graph.agents());
    DesignInput input = plan_input(config, topography, exposures, budgets, given);
    input.given_utility =
        dropout_utility(topography.mixing, config.utility, config.rounds, probability);
    return planned_for(input, config, std::move(given), true);
}

MissedRounds figures_of_dropouts(const PlannedNoise& planned,
                                 const PlanConfig& config,
                                 const Topography& topography,
                                 const std::vector<Exposure>& exposures,
                                 const std::vector<PrivacyBudget>& budgets,
                                 double probability) {
    const NoisePlan& plan = planned.design.plan;
    if (plan.temporal.kind != TemporalFactor::Kind::identity ||
        plan.entry != NoiseEntry::gradient || plan.aggregation != Aggregation::gossip)
        refuse_beside_dropouts(
            "plan", plan.mechanism, "independent noise of rounds on gradients that agents mix");
    const MixingMatrix& mixing = topography.mixing;
    const double kappa = planned.kappa.minCoeff();
    MissedRounds missed;
    missed.probability = probability;
    missed.nobody_missing =
        objective_of(plan, utility_matrix(mixing, config.utility, config.rounds), kappa);
    missed.published =
        recovered_noise(plan, mixing, config.utility, config.rounds, probability) * kappa;
    if (!planned.solved) return missed;
    const PlannedNoise without = plan_noise(config, topography, exposures, budgets, false);
    missed.planned_without =
        objective_of(without.design.plan,
                     dropout_utility(mixing, config.utility, config.rounds, probability),
                     kappa);
    return missed;
}

}  // namespace sotto
