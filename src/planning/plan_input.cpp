#include "planning/plan_input.hpp"

#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "planning/configured_gossip.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/files.hpp"
#include "sotto/core/numbers.hpp"
#include "sotto/core/stopwatch.hpp"
#include "sotto/design/reference_objectives.hpp"
#include "sotto/design/scheduled_utility.hpp"
#include "sotto/design/temporal_utility.hpp"
#include "sotto/privacy/accountant.hpp"
#include "sotto/privacy/temporal_sensitivity.hpp"

namespace sotto {

namespace {

/// Whether noise is correlated over rounds: then objectives are of the trajectory.
bool over_rounds(const Mechanism& mechanism, const std::optional<NoisePlan>& given) {
    return mechanism.correlates_rounds ||
           (given && given->temporal.kind != TemporalFactor::Kind::identity);
}

/// For mixing that changes from round to round.
void set_schedule(DesignInput& input,
                  const PlanConfig& config,
                  const Topography& topography,
                  bool correlated) {
    if (topography.later_mixing.empty()) return;
    if (correlated)
        input.schedule = std::make_shared<const MixingSchedule>(
            topography.schedule().from(config.steps.first_round));
    else
        input.given_utility = utility_matrix(
            topography.schedule(), config.utility, config.rounds, config.gossip_steps);
}

/// @throws ConfigError for choices that the mechanism does not leave.
void require_choices(const PlanConfig& config,
                     const Mechanism& mechanism,
                     const Mechanism& spatial) {
    if (!mechanism.takes_temporal &&
        (config.temporal.kind != TemporalShape::Kind::dense || config.temporal.restart > 0))
        throw ConfigError(
            fmt::format("temporal: mechanism {} has no temporal factor to choose (allowed with {})",
                        mechanism.name,
                        join(mechanisms_with(&Mechanism::takes_temporal), ", ")));
    if (!config.seed_groups.empty() && !spatial.allows_seed_groups())
        throw ConfigError(
            fmt::format("seed-groups: mechanism {} has its own (allowed with {})",
                        spatial.name,
                        join(recommended_mechanisms(&Mechanism::allows_seed_groups), ", ")));
    if (config.common_variance && !spatial.seed_groups())
        throw ConfigError(
            fmt::format("common-variance: mechanism {} has no choice (allowed with {})",
                        spatial.name,
                        join(recommended_mechanisms(&Mechanism::seed_groups), ", ")));
}

/// kappa of every agent.
Eigen::VectorXd precision_limits(const PlanConfig& config,
                                 const std::vector<Exposure>& exposures,
                                 const std::vector<PrivacyBudget>& budgets) {
    Eigen::VectorXd kappa(std::ssize(exposures));
    for (std::size_t u = 0; u < exposures.size(); ++u)
        kappa(static_cast<Eigen::Index>(u)) =
            config.noise_std ? precision_of_std(*config.noise_std, configured_noise(config))
                             : precision_limit(budgets[u], exposures[u]);
    return kappa;
}

/// M of what mixes the messages of this plan.
Eigen::MatrixXd utility_of(const NoisePlan& plan, const DesignInput& input) {
    const bool mean = plan.aggregation == Aggregation::trusted_mean;
    const MixingMatrix mixing = mean ? MixingMatrix::average(plan.agents) : *input.mixing;
    if (plan.temporal.kind != TemporalFactor::Kind::identity) {
        const std::vector<double> steps = design_steps(input);
        return input.schedule && !mean
                   ? spatial_utility(*input.schedule, plan.temporal, steps, input.gossip.steps())
                   : spatial_utility(mixing, plan.temporal, steps, input.gossip);
    }
    if (!mean) return design_utility(input);
    DesignInput averaged = input;
    averaged.mixing = &mixing;
    averaged.given_utility.reset();
    averaged.gossip = averaged.smoothing.final_gossip = 1;
    return design_utility(averaged);
}

/// A plan that nobody solves here: rated, but with no bound of what could be.
Design rated(NoisePlan plan, const DesignInput& input) {
    Design design;
    design.lower_bound = not_a_number;
    const bool on_gradients = plan.same_message_to_all() && plan.entry == NoiseEntry::gradient;
    design.objective = on_gradients
                           ? utility_of(plan, input).cwiseProduct(spatial_covariance(plan)).sum() *
                                 input.kappa.minCoeff()
                           : not_a_number;
    design.plan = std::move(plan);
    return design;
}

/// Noise of one round as configured, however much louder rounds together have to be.
void quieten_to_one_round(NoisePlan& plan, const PlanConfig& config, const MixingMatrix& mixing) {
    const Eigen::VectorXd squared =
        run_sensitivity_squared(plan, plan_use(config, mixing), config.rounds);
    const double counted = temporal_sensitivity_squared({}, config.participation, config.rounds);
    for (auto& row : plan.rows)
        for (double& coefficient : row.coefficients)
            coefficient *= std::sqrt(counted / squared(row.sender));
    plan.grid_step_log2 +=
        static_cast<int>(std::floor(0.5 * std::log2(counted / squared.maxCoeff())));
}

Design solved(const DesignInput& input, const PlanConfig& config) {
    Design design = find_mechanism("mechanism", config.mechanism).design(input);
    if (config.noise_std && !design.plan.noiseless())
        quieten_to_one_round(design.plan, config, *input.mixing);
    return design;
}

}  // namespace

DesignInput plan_input(const PlanConfig& config,
                       const Topography& topography,
                       const std::vector<Exposure>& exposures,
                       const std::vector<PrivacyBudget>& budgets,
                       const std::optional<NoisePlan>& given) {
    const Mechanism& mechanism = find_mechanism("mechanism", config.mechanism);
    const Mechanism& spatial = spatial_part(config);
    DesignInput input;
    input.graph = &topography.graph;
    input.mixing = &topography.mixing;
    const bool correlated = over_rounds(mechanism, given);
    input.utility = correlated ? Utility{Utility::Kind::trajectory, 0} : config.utility;
    set_schedule(input, config, topography, correlated);
    input.rounds = config.rounds;
    require_possible_smoothing(config, topography);
    input.gossip = configured_gossip(config, topography.mixing);
    input.smoothing = configured_smoothing(config, topography);
    input.steps = config.steps;
    input.participation = config.participation;
    input.clip_norm = config.clip_norm;
    input.variance_cap = config.variance_cap;
    input.gap = config.plan_gap.value_or(default_gap(topography.graph.agents()));
    input.common_variance = config.common_variance || spatial.common_variance;
    input.spatial = &spatial;
    if (config.covariance_file && !given) input.covariance = read_npy(*config.covariance_file);
    if (mechanism.needs_budget || given) input.kappa = precision_limits(config, exposures, budgets);
    if (given) return input;
    require_choices(config, mechanism, spatial);
    input.temporal = config.temporal;
    input.coalition_size = coalition_size_of(config, topography.graph.agents(), nullptr);
    if (shares_by_groups(config, spatial))
        input.seed_groups = configured_seed_groups(config, topography.graph);
    return input;
}

PlannedNoise planned_for(const DesignInput& input,
                         const PlanConfig& config,
                         std::optional<NoisePlan> given,
                         bool compare) {
    const auto start = Clock::now();
    PlannedNoise planned;
    planned.solved = !given;
    planned.utility = input.utility;
    planned.kappa = input.kappa;
    planned.design = given ? rated(*std::move(given), input) : solved(input, config);
    planned.seconds = seconds_since(start);
    if (input.kappa.size() > 0 && compare) {
        planned.ldp_objective = independent_objective(input);
        planned.cdp_objective = trusted_mean_objective(input);
    }
    return planned;
}

}  // namespace sotto
