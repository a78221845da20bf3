#include "commands/plan/plan_json.hpp"

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/json.hpp"
#include "core/linear_algebra.hpp"
#include "privacy/ledger_json.hpp"
#include "sotto/privacy/accountant.hpp"

namespace sotto {

namespace {

using Json = nlohmann::ordered_json;

Json finite_number(double value) { return std::isfinite(value) ? Json(value) : Json(); }

Json mu_of(const Guarantee& guarantee) {
    const std::optional<double> mu = guarantee.loss.mu();
    return mu ? finite_number(*mu) : Json();
}

Json independent_variance(const NoisePlan& plan) {
    const bool on_gradients = plan.same_message_to_all() && plan.entry == NoiseEntry::gradient;
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
    json["gossip_steps"] = config.gossip_steps;
    if (!planned.choices.gossip.candidates.empty())
        json["gossip_choice"] = gossip_choice_json(planned.choices.gossip);
    if (!planned.gossip_costs.empty()) json["gossip_costs"] = candidates_json(planned.gossip_costs);
    json["kappa"] = planned.kappa.size() > 0 ? finite_number(planned.kappa.minCoeff()) : Json();
    json["mu"] = mu_of(worst);
    json["objective"] = finite_number(planned.design.objective);
    json["lower_bound"] = finite_number(planned.design.lower_bound);
    json["relative_gap"] = finite_number(planned.design.relative_gap());
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
