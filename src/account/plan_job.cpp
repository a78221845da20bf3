#include "account/plan_job.hpp"

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "agent/trainer.hpp"
#include "core/json.hpp"
#include "core/linear_algebra.hpp"
#include "design/temporal_utility.hpp"
#include "options/graph_options.hpp"
#include "options/option_set.hpp"
#include "options/plan_options.hpp"
#include "options/train_options.hpp"
#include "planning/budgets.hpp"
#include "planning/choices.hpp"
#include "planning/configured_gossip.hpp"
#include "planning/person_noise.hpp"
#include "planning/planning.hpp"
#include "planning/settle.hpp"
#include "privacy/large_plans.hpp"
#include "privacy/ledger_json.hpp"
#include "sotto/privacy/accountant.hpp"

namespace sotto {

namespace {

/// The size of one message in the default precision.
double usual_message_bytes(long dimension) {
    return static_cast<double>(
        piece_bytes(MessagePrecision::float64, static_cast<std::size_t>(dimension)));
}

/// What secure sums would hide, if asked for. @throws ConfigError.
std::optional<SumHiding> sums_of(const PlanJobConfig& config,
                                 const Topography& topography,
                                 const NoisePlan& plan) {
    if (!config.secure_sum) return std::nullopt;
    require_summable(plan);
    return hidden_by_sums(topography,
                          Membership::everybody(plan.agents),
                          sum_rules(config.plan, topography, config.mask_partners),
                          plan.coalition_size,
                          colluders_to_tell_of);
}

/// Noise and cost of K = 1, 2, 4 and 8 gossip steps; empty if planning them would take long, or if
/// messages are not mixed.
std::vector<GossipCandidate> gossip_costs(const PlanJobConfig& config,
                                          const Topography& topography) {
    const Mechanism& mechanism = find_mechanism("mechanism", config.plan.mechanism);
    const int most_agents = shares_by_groups(config.plan, spatial_part(config.plan)) ? 30 : 200;
    if (config.dropout_probability > 0 || config.plan.plan_file ||
        !mixes_hidden_models(config.plan) || !mechanism.needs_budget ||
        mechanism.correlates_rounds || !topography.later_mixing.empty() ||
        topography.graph.agents() > most_agents)
        return {};
    return compare_gossip_steps(config.plan, topography, {}, usual_message_bytes(config.dimension));
}

}  // namespace

OptionSet<PlanJobConfig> plan_option_set() {
    return OptionSet<PlanJobConfig>()
        .add(graph_options(), &PlanJobConfig::graph)
        .add(plan_options(), &PlanJobConfig::plan)
        .add(option_group<PlanJobConfig>(
            "Secure sums",
            {{secure_sum_option<PlanJobConfig>(), mask_partners_option<PlanJobConfig>()}}))
        .add(option_group<PlanJobConfig>(
            "Missed rounds",
            {{{{.name = "dropout-probability",
                .help = "P from 0 to 0.999: the plan minimises the noise that is left if every "
                        "agent misses every round with this probability",
                .details = R"(
The line `dropouts` says how much noise is left with this plan, with one that ignores absences, and without any
([equations](../equations.md#rounds-that-agents-miss)). Every agent's limit holds whoever is missing. A training that
uses the plan (`--plan`) leaves messages out with `--round-deadline`, or in an experiment with `--faults silent:P`.)"},
               bound(&PlanJobConfig::dropout_probability, real_between(0, 0.999))}}}))
        .add(option_group<PlanJobConfig>(
            "Output",
            {{{{.name = "out", .common = true, .help = "write the plan to FILE, for --plan"},
               bound(&PlanJobConfig::out, file_path())},
              {{.name = "dimension",
                .help = "parameters of the model, for the cost of exchanges (and --max-bytes) and "
                        "for bounds of [H]"},
               bound(&PlanJobConfig::dimension, whole(1))},
              {{.name = "smoothness",
                .help = "Lipschitz constant of every agent's gradient, for bounds of [H] (zip-dl, "
                        "homomorphic)",
                .details = R"(
Of logistic loss a quarter of the largest squared length of a record's features, and more with `--l2`. The bounds are for
comparison ([equations](../equations.md#noise-on-messages)): `bounds` of the results has those that the paper gives for such a training,
at `--dimension` parameters. Noise and privacy do not depend on it.)"},
               bound(&PlanJobConfig::smoothness, positive_real())},
              {{.name = "unrestricted-bound",
                .help = "{}: compute what the best correlation of all agents and rounds would "
                        "leave, for up to 400 agents * rounds",
                .details = R"(
Plans are products: noise is correlated between agents in the same way in every round, and over rounds in the same way
for every agent. [U] Definition 11 asks for any encoder C, with a row for every agent in every round. `on` prints the
least noise that such an encoder leaves in all models of all rounds within the same budgets, against somebody who sees
all messages, together with its certificate and with how many times as much the plan leaves
([equations](../equations.md#any-correlation-of-agents-and-rounds)). The figure is for comparison: nothing trains with
such noise.)"},
               bound(&PlanJobConfig::unrestricted_bound, on_off())}}}));
}

PlanJobConfig read_plan_options(const OptionTexts& given) {
    PlanJobConfig config =
        plan_option_set().read(with_default_clip(with_participation_without_data(given)));
    require_covariance_file(config.plan);
    config.plan.open.final_gossip =
        leaves_final_gossip_open(given, config.secure_sum || config.dropout_probability > 0);
    return config;
}

PrivacyRecord MadePlan::record() const {
    PrivacyRecord record;
    record.secure_sums = sums;
    record.phases.push_back(first_phase(plan(),
                                        counted.exposures,
                                        plan_use(config.plan, built.topography.mixing),
                                        config.plan.rounds));
    record.budgets = counted.budgets;
    record.adjacency = config.plan.adjacency;
    record.unit_agents = config.plan.unit_agents;
    record.rounds = config.plan.rounds;
    record.authentication.clear();
    record.more_statements =
        sampling_statements(config.plan, counted.exposures, counted.budgets, {});
    return record;
}

MadePlan make_plan(PlanJobConfig config) {
    require_one_source_of_noise(config.plan);
    BuiltTopography built = build_topography(config.graph, config.plan);
    const Topography& topography = built.topography;
    const double missing = config.dropout_probability;
    if (missing > 0) {
        require_possible_dropouts(config.plan, topography);
        config.plan.open.correction = false;  // none is possible with missed rounds
    }
    auto [settled, choices] = settle(config.plan,
                                     {.topography = topography,
                                      .dimension = config.dimension,
                                      .secure_sum = config.secure_sum,
                                      .designed_mixing = is_optimised(config.graph)});
    config.plan = AskedPlan(settled);
    const int agents = topography.graph.agents();
    if (config.unrestricted_bound) require_joint_rows(agents, settled.rounds);
    const CountedRounds rounds = count_rounds(settled, agents, {});
    PlannedNoise planned = missing > 0
                               ? plan_for_missed_rounds(settled, topography, rounds, missing)
                               : plan_noise(settled, topography, rounds);
    planned.choices = std::move(choices);
    planned.gossip_costs = gossip_costs(config, topography);
    std::optional<MissedRounds> missed;
    if (missing > 0) missed = figures_of_dropouts(planned, settled, topography, rounds, missing);
    const NoisePlan& plan = planned.design.plan;
    CountedPlan counted = count_plan(plan, settled, topography, rounds);
    std::optional<SumHiding> sums = sums_of(config, topography, plan);
    std::vector<TrainingBoundFigure> bounds =
        bounds_of_training({settled, topography, plan, config.dimension, config.smoothness});
    std::optional<UnrestrictedNoise> unrestricted;
    if (config.unrestricted_bound)
        unrestricted = unrestricted_noise(settled, topography, plan, planned.kappa);
    config.plan.final_gossip = final_gossip_steps(settled, topography.schedule());
    return {std::move(config),
            std::move(built),
            std::move(planned),
            std::move(counted),
            std::move(sums),
            std::move(bounds),
            missed,
            unrestricted};
}

namespace {

using Json = nlohmann::ordered_json;

Json finite_number(double value) { return std::isfinite(value) ? Json(value) : Json(); }

Json mu_of(const Guarantee& guarantee) {
    const std::optional<double> mu = guarantee.loss.mu();
    return mu ? finite_number(*mu) : Json();
}

Json independent_variance(const NoisePlan& plan) {
    const bool on_gradients = plan.same_message_to_all() && plan.entry == NoiseEntry::gradient;
    if (plan.agents > most_dense_agents) return {};
    return on_gradients ? Json(symmetric_eigenvalues(spatial_covariance(plan))(0)) : Json();
}

Json cycle_choice_json(const CycleChoice& choice) {
    Json candidates = Json::array();
    for (const CycleCandidate& candidate : choice.candidates)
        candidates.push_back(
            {{"cycle", candidate.cycle},
             {"band", candidate.band},
             {"noise", finite_number(candidate.noise)},
             {"relative_noise", finite_number(candidate.noise / choice.candidates.front().noise)}});
    return {{"cycle", choice.best().cycle},
            {"reason", text_of(choice)},
            {"candidates", std::move(candidates)}};
}

Json temporal_choice_json(const ShapeChoice& choice) {
    Json candidates = Json::array();
    for (const ShapeCandidate& candidate : choice.candidates)
        candidates.push_back({{"temporal", temporal_text(candidate.shape)},
                              {"noise", finite_number(candidate.noise)}});
    return {{"temporal", temporal_text(choice.best())},
            {"reason", text_of(choice)},
            {"candidates", std::move(candidates)}};
}

Json candidates_json(const std::vector<GossipCandidate>& candidates) {
    Json json = Json::array();
    for (const GossipCandidate& candidate : candidates)
        json.push_back({{"gossip_steps", candidate.steps},
                        {"objective", finite_number(candidate.noise)},
                        {"bytes", candidate.bytes}});
    return json;
}

Json gossip_choice_json(const GossipChoice& choice) {
    return {{"gossip_steps", choice.chosen},
            {"wanted", finite_number(choice.wanted)},
            {"trusted_aggregator", finite_number(choice.trusted)},
            {"limited", choice.limited},
            {"candidates", candidates_json(choice.candidates)}};
}

Json persons_json(const PersonFigure& figure) {
    const WorstPerson& worst = figure.worst;
    return {{"unit_agents", figure.agents},
            {"agents", worst.agents},
            {"coalition", worst.coalition},
            {"mu", mu_of(figure.guarantee)},
            {"epsilon", finite_number(figure.guarantee.epsilon)},
            {"infinite", figure.guarantee.infinite()},
            {"squared", finite_number(worst.upper)},
            {"squared_reached", finite_number(worst.reached)},
            {"exhaustive", worst.exhaustive},
            {"sampling_probability", figure.probability}};
}

Json bounds_json(const std::vector<TrainingBoundFigure>& bounds) {
    Json json = Json::array();
    for (const TrainingBoundFigure& figure : bounds)
        json.push_back({{"name", figure.bound->name},
                        {"source", figure.bound->source},
                        {"says", figure.bound->says},
                        {"value", finite_number(figure.value)}});
    return json;
}

Json optimum_json(const CertifiedOptimum& optimum, double ratio) {
    return {{"value", finite_number(optimum.value)},
            {"lower_bound", finite_number(optimum.lower_bound)},
            {"relative_gap", finite_number(optimum.relative_gap())},
            {"ratio", finite_number(ratio)}};
}

Json unrestricted_json(const UnrestrictedNoise& noise) {
    return {{"plan", finite_number(noise.plan)},
            {"any", optimum_json(noise.any, noise.ratio())},
            {"equal_columns", optimum_json(noise.equal, noise.ratio_of_equal())}};
}

Json per_agent_json(const PlannedNoise& planned,
                    const std::vector<Exposure>& exposures,
                    const std::vector<Guarantee>& guaranteed,
                    const Eigen::VectorXd& variances) {
    Json json = Json::array();
    for (std::size_t u = 0; u < exposures.size(); ++u) {
        const auto i = static_cast<Eigen::Index>(u);
        json.push_back({{"agent", u},
                        {"kappa", planned.kappa.size() > 0 ? Json(planned.kappa(i)) : Json()},
                        {"mu", mu_of(guaranteed[u])},
                        {"epsilon", finite_number(guaranteed[u].epsilon)},
                        {"noise_std", std::sqrt(variances(i))},
                        {"sensitivity", exposures[u].sensitivity},
                        {"sampling_probability", exposures[u].sampling_probability},
                        {"sensitivity_squared", exposures[u].sensitivity_squared_over_rounds}});
    }
    return json;
}

Json noise_schedule_json(const PlanConfig& config) {
    return {{"kind", config.noise_schedule},
            {"relative_noise", config.round_noise.relative},
            {"variance_left", config.round_noise.left}};
}

}  // namespace

std::string plan_report_json(const PlannedNoise& planned,
                             const PlanConfig& config,
                             const std::vector<Exposure>& exposures,
                             const std::vector<PrivacyBudget>& budgets,
                             const std::optional<SumHiding>& sums,
                             const std::vector<TrainingBoundFigure>& bounds,
                             const std::optional<MissedRounds>& missed,
                             const std::optional<UnrestrictedNoise>& unrestricted) {
    const NoisePlan& plan = planned.design.plan;
    const auto guaranteed =
        coalition_guarantees(plan, plan.coalition_size, exposures, budgets.front().delta);
    const Eigen::VectorXd variances = largest_message_variance(plan);
    const Guarantee& worst = largest(guaranteed);
    Json json;
    json["mechanism"] = plan.mechanism;
    json["agents"] = plan.agents;
    json["utility"] = name_of(planned.utility);
    json["calibration"] = name_of(config.calibration);
    json["adjacency"] = name_of(config.adjacency);
    json["participation"] = name_of(config.participation);
    if (!planned.choices.cycle.candidates.empty())
        json["cycle_choice"] = cycle_choice_json(planned.choices.cycle);
    if (!planned.choices.temporal.candidates.empty())
        json["temporal_choice"] = temporal_choice_json(planned.choices.temporal);
    json["rounds"] = config.rounds;
    if (!config.round_noise.relative.empty()) json["noise_schedule"] = noise_schedule_json(config);
    json["gossip_steps"] = config.gossip_steps;
    json["correction"] = name_of(config.correction);
    json["laziness"] = planned.laziness;
    if (!planned.choices.gossip.candidates.empty())
        json["gossip_choice"] = gossip_choice_json(planned.choices.gossip);
    if (!planned.gossip_costs.empty()) json["gossip_costs"] = candidates_json(planned.gossip_costs);
    json["kappa"] = planned.kappa.size() > 0 ? finite_number(planned.kappa.minCoeff()) : Json();
    json["mu"] = mu_of(worst);
    json["objective"] = finite_number(planned.design.objective);
    json["lower_bound"] = finite_number(planned.design.lower_bound);
    json["relative_gap"] = finite_number(planned.design.relative_gap());
    json["objective_error"] = finite_number(planned.design.objective_error);
    json["capped"] = planned.design.capped;
    json["ldp_objective"] = planned.ldp_objective;
    json["cdp_objective"] = planned.cdp_objective;
    json["independent_variance"] = independent_variance(plan);
    json["max_variance"] = variances.maxCoeff();
    json["noise_std"] = {{"min", std::sqrt(variances.minCoeff())},
                         {"max", std::sqrt(variances.maxCoeff())}};
    json["streams_per_agent"] = plan.streams_per_agent();
    json["coalition_size"] = plan.coalition_size;
    json["sensitivity"] = exposures.front().sensitivity;
    json["sensitivity_squared"] = exposures.front().sensitivity_squared_over_rounds;
    json["epsilon"] = finite_number(worst.epsilon);
    json["infinite"] = worst.infinite();
    json["epsilon_target"] = plan.noiseless() ? Json() : Json(budgets.front().epsilon);
    json["delta"] = budgets.front().delta;
    if (const auto persons = person_figure(plan, config, exposures, budgets.front().delta))
        json["persons"] = persons_json(*persons);
    json["per_agent"] = per_agent_json(planned, exposures, guaranteed, variances);
    if (sums) json["secure_sums"] = json_of(*sums);
    if (missed)
        json["dropouts"] = {{"probability", missed->probability},
                            {"objective_nobody_missing", finite_number(missed->nobody_missing)},
                            {"objective_published", finite_number(missed->published)},
                            {"objective_planned_without", number_or_null(missed->planned_without)}};
    json["bounds"] = bounds_json(bounds);
    if (unrestricted) json["unrestricted"] = unrestricted_json(*unrestricted);
    json["plan_hash"] = to_hex(plan.hash());
    json["seconds"] = planned.seconds;
    return to_text(json);
}

}  // namespace sotto
