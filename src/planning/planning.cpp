#include "planning/planning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "core/files.hpp"
#include "core/numbers.hpp"
#include "core/stopwatch.hpp"
#include "design/changing_utility.hpp"
#include "design/reference_objectives.hpp"
#include "design/seed_groups.hpp"
#include "design/temporal_utility.hpp"
#include "plan/lagged_noise.hpp"
#include "planning/configured_gossip.hpp"
#include "planning/corrections.hpp"
#include "planning/noise_schedule.hpp"
#include "planning/person_noise.hpp"
#include "privacy/protection.hpp"
#include "sotto/core/error.hpp"
#include "sotto/plan/membership.hpp"
#include "sotto/plan/noise_plan.hpp"
#include "sotto/privacy/accountant.hpp"
#include "sotto/privacy/privacy_record.hpp"

namespace sotto {

const Mechanism& spatial_part(const PlanConfig& config) {
    const Mechanism& mechanism = find_mechanism("mechanism", config.mechanism);
    if (!mechanism.takes_spatial) return mechanism;
    const Mechanism& spatial = find_mechanism("spatial-mechanism", config.spatial_mechanism);
    require_spatial_part(spatial);
    return spatial;
}

bool shares_by_groups(const PlanConfig& config, const Mechanism& spatial) {
    return spatial.seed_groups() || (spatial.takes_seed_groups && !config.seed_groups.empty());
}

std::vector<SeedGroup> configured_seed_groups(const PlanConfig& config, const Graph& graph) {
    return make_seed_groups(
        config.seed_groups.empty() ? default_seed_groups(graph.agents()) : config.seed_groups,
        graph);
}

std::optional<NoisePlan> read_given_plan(const PlanConfig& config, int agents) {
    if (!config.plan_file) return std::nullopt;
    if (config.noise_std)
        throw ConfigError(
            "--noise-std: not possible with --plan, whose file says what the noise is");
    NoisePlan plan =
        plan_from_json(read_file(*config.plan_file, most_plan_bytes), *config.plan_file);
    if (plan.agents != agents)
        throw ConfigError(fmt::format("plan: {} is made for {} agents, the graph has {}",
                                      *config.plan_file,
                                      plan.agents,
                                      agents));
    return plan;
}

double most_temporal_values(const PlanConfig& config) {
    if (config.plan_file) {
        constexpr double shortest_number = 2;  // with its comma
        std::error_code missing;
        const auto bytes = std::filesystem::file_size(*config.plan_file, missing);
        return missing ? 0 : static_cast<double>(bytes) / shortest_number;
    }
    const auto rounds = static_cast<double>(config.rounds);
    if (config.noise_schedule != constant_noise) return rounds;
    return find_mechanism("mechanism", config.mechanism).correlates_rounds ? rounds * rounds : 0;
}

int coalition_size_of(const PlanConfig& config, int agents, const NoisePlan* plan) {
    if (config.plan_file)
        return config.coalition_size ? *config.coalition_size
               : plan != nullptr     ? plan->coalition_size
                                     : 0;
    const Mechanism& mechanism = spatial_part(config);
    const int size =
        config.coalition_size.value_or(std::min(mechanism.default_coalition_size, agents - 1));
    if (size > 0 && !mechanism.coalitions)
        throw ConfigError(
            fmt::format("coalition-size: {} is not allowed with mechanism {}, which protects "
                        "against no curious agent (allowed: 0, or a mechanism that does: {})",
                        size,
                        mechanism.name,
                        join(recommended_mechanisms([](const Mechanism& other) {
                                 return other.coalitions && other.spatial_part;
                             }),
                             ", ")));
    check_coalition_size(agents, size);
    return size;
}

PlannedNoise plan_noise(const SettledPlan& config,
                        const Topography& topography,
                        const CountedRounds& counted,
                        bool compare) {
    std::optional<NoisePlan> given = read_given_plan(config, topography.graph.agents());
    require_possible_persons(config, topography.graph.agents());
    const DesignInput input = plan_input(config, topography, counted, given);
    PlannedNoise planned = planned_for(input, config, std::move(given), compare);
    hold_for_persons(planned, config, topography, counted);
    return planned;
}

PlannedNoise plan_before_start(const SettledPlan& config,
                               const Topography& topography,
                               const std::vector<Eigen::Index>& records,
                               bool compare) {
    return plan_noise(
        config, topography, count_rounds(config, topography.graph.agents(), records), compare);
}

namespace {

/// Whether noise is correlated over rounds, so that objectives are of the trajectory.
bool over_rounds(const Mechanism& mechanism, const std::optional<NoisePlan>& given) {
    return mechanism.correlates_rounds ||
           (given && given->temporal.kind != TemporalFactor::Kind::identity &&
            !is_diagonal(given->temporal));
}

/// Sets the schedule if mixing changes over rounds.
void set_schedule(DesignInput& input,
                  const PlanConfig& config,
                  const Topography& topography,
                  bool correlated) {
    if (topography.later_mixing.empty()) return;
    if (correlated)
        input.schedule = std::make_shared<const MixingSchedule>(
            topography.schedule().from(config.steps.first_round));
    else
        input.given_utility = utility_matrix(topography.schedule(),
                                             config.utility,
                                             config.rounds,
                                             config.gossip_steps,
                                             config.correction);
}

/// @throws ConfigError for choices that the mechanism does not allow.
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
            fmt::format("common-variance: mechanism {} cannot choose it (allowed with {})",
                        spatial.name,
                        join(recommended_mechanisms(&Mechanism::seed_groups), ", ")));
}

/// kappa of every agent.
Eigen::VectorXd precision_limits(const PlanConfig& config, const CountedRounds& counted) {
    Eigen::VectorXd kappa(std::ssize(counted.exposures));
    for (std::size_t u = 0; u < counted.exposures.size(); ++u)
        kappa(static_cast<Eigen::Index>(u)) =
            config.noise_std ? precision_of_std(*config.noise_std, configured_noise(config))
                             : precision_limit(counted.budgets[u], counted.exposures[u]);
    return kappa;
}

/// M for the mixing of this plan's messages.
Eigen::MatrixXd utility_of(const NoisePlan& plan, const DesignInput& input) {
    const bool mean = plan.aggregation == Aggregation::trusted_mean;
    const MixingMatrix mixing = mean ? MixingMatrix::average(plan.agents) : *input.mixing;
    if (plan.temporal.kind != TemporalFactor::Kind::identity && !is_diagonal(plan.temporal)) {
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

/// Rates a given plan, without a lower bound on the objective.
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

/// Scales noise so that one round has the configured noise, even if rounds together would need
/// more.
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
    design.plan = with_schedule(std::move(design.plan), scheduled_factor(config));
    return design;
}

}  // namespace

DesignInput plan_input(const SettledPlan& config,
                       const Topography& topography,
                       const CountedRounds& counted,
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
    if (given) require_possible_correction(config, *given);
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
    if (mechanism.needs_budget || given) input.kappa = precision_limits(config, counted);
    if (given) return input;
    require_choices(config, mechanism, spatial);
    input.temporal = config.temporal;
    input.coalition_size = coalition_size_of(config, topography.graph.agents(), nullptr);
    if (shares_by_groups(config, spatial))
        input.seed_groups = configured_seed_groups(config, topography.graph);
    input.extra_noise = extra_noise_of(config.seed_groups, topography.graph.agents());
    return input;
}

PlannedNoise planned_for(const DesignInput& input,
                         const SettledPlan& config,
                         std::optional<NoisePlan> given,
                         bool compare) {
    const auto start = Clock::now();
    PlannedNoise planned;
    planned.solved = !given;
    planned.utility = input.utility;
    planned.kappa = input.kappa;
    planned.laziness = input.gossip.laziness();
    planned.design = given ? rated(*std::move(given), input) : solved(input, config);
    planned.seconds = seconds_since(start);
    if (input.kappa.size() > 0 && compare) {
        planned.ldp_objective = independent_objective(input);
        planned.cdp_objective = trusted_mean_objective(input);
    }
    return planned;
}

namespace {

[[noreturn]] void refuse_beside_dropouts(std::string_view option,
                                         std::string_view value,
                                         std::string_view allowed) {
    throw ConfigError(fmt::format(
        "{}: {} is not possible with --dropout-probability (allowed: {})", option, value, allowed));
}

/// Tr(M R) at smallest kappa 1.
double objective_of(const NoisePlan& plan, const Eigen::MatrixXd& utility, double kappa) {
    return utility.cwiseProduct(spatial_covariance(plan)).sum() * kappa;
}

}  // namespace

std::string text_of(const MissedRounds& missed) {
    std::string text = fmt::format(
        "dropouts   the noise left is for agents that miss a round with probability {:g} (not for "
        "the trusted\n           aggregator); {:.6g} if no agent misses a round",
        missed.probability,
        missed.nobody_missing);
    if (missed.planned_without)
        text +=
            fmt::format("; a plan made for that would leave {:.6g} here", *missed.planned_without);
    return text + fmt::format(
                      "\n           {:.6g} if streams shared with missing agents are published and "
                      "subtracted\n",
                      missed.published);
}

void require_possible_dropouts(const PlanConfig& config, const Topography& topography) {
    const Mechanism& mechanism = find_mechanism("mechanism", config.mechanism);
    if (!mechanism.independent_rounds() || mechanism.aggregation != Aggregation::gossip)
        refuse_beside_dropouts("mechanism",
                               mechanism.name,
                               "mechanisms with independent noise on gradients in every round, "
                               "such as ldp, decor, corn, corn-hbc, pairs");
    if (config.noise_schedule != constant_noise)
        refuse_beside_dropouts("noise-schedule", config.noise_schedule, "constant");
    if (config.gossip_steps != 1)
        refuse_beside_dropouts("gossip-steps", std::to_string(config.gossip_steps), "1");
    if (config.gossip == GossipRule::optimal)
        refuse_beside_dropouts("gossip", name_of(config.gossip), "plain, chebyshev");
    if (config.correction != Correction::none)
        refuse_beside_dropouts("correction", name_of(config.correction), "none");
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

PlannedNoise plan_for_missed_rounds(const SettledPlan& config,
                                    const Topography& topography,
                                    const CountedRounds& counted,
                                    double probability) {
    require_possible_dropouts(config, topography);
    std::optional<NoisePlan> given = read_given_plan(config, topography.graph.agents());
    DesignInput input = plan_input(config, topography, counted, given);
    input.given_utility =
        dropout_utility(topography.mixing, config.utility, config.rounds, probability);
    PlannedNoise planned = planned_for(input, config, std::move(given), true);
    hold_for_persons(planned, config, topography, counted);
    return planned;
}

MissedRounds figures_of_dropouts(const PlannedNoise& planned,
                                 const SettledPlan& config,
                                 const Topography& topography,
                                 const CountedRounds& counted,
                                 double probability) {
    const NoisePlan& plan = planned.design.plan;
    if (plan.temporal.kind != TemporalFactor::Kind::identity ||
        plan.entry != NoiseEntry::gradient || plan.aggregation != Aggregation::gossip)
        refuse_beside_dropouts(
            "plan",
            plan.mechanism,
            "independent noise on gradients in every round, with models that agents mix");
    const MixingMatrix& mixing = topography.mixing;
    const double kappa = planned.kappa.minCoeff();
    MissedRounds missed;
    missed.probability = probability;
    missed.nobody_missing =
        objective_of(plan, utility_matrix(mixing, config.utility, config.rounds), kappa);
    missed.published =
        recovered_noise(plan, mixing, config.utility, config.rounds, probability) * kappa;
    if (!planned.solved) return missed;
    const PlannedNoise without = plan_noise(config, topography, counted, false);
    missed.planned_without =
        objective_of(without.design.plan,
                     dropout_utility(mixing, config.utility, config.rounds, probability),
                     kappa);
    return missed;
}

}  // namespace sotto
