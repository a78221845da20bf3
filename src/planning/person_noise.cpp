#include "planning/person_noise.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "privacy/person_sums.hpp"
#include "sotto/design/mechanism.hpp"

namespace sotto {

void require_possible_persons(const PlanConfig& config, int agents) {
    require_possible_persons(
        "unit-agents", config.unit_agents, agents, configured_noise(config), config.participation);
}

void hold_for_persons(PlannedNoise& planned,
                      const SettledPlan& config,
                      const Topography& topography,
                      const CountedRounds& counted) {
    NoisePlan& plan = planned.design.plan;
    require_possible_persons(config, plan.agents);
    if (config.unit_agents == 1 || !planned.solved || plan.noiseless() || config.noise_std) return;
    const CountedPlan now = count_plan(plan, config, topography, counted);
    const Eigen::VectorXd allowed =
        allowed_for_persons(now.exposures, now.budgets, config.unit_agents);
    const WorstPerson worst = worst_person(plan,
                                           coalition_size_of(config, plan.agents, &plan),
                                           {config.unit_agents, reach_of(now.exposures), allowed});
    if (!std::isfinite(worst.upper)) return;  // nobody is protected, which is said elsewhere
    const double share = std::max(1.0, worst.upper);
    plan = scaled(std::move(plan), std::sqrt(share));
    planned.design.objective *= share;
    planned.design.objective_error *= share;
    if (!(planned.ldp_objective > 0)) return;
    const Eigen::VectorXd reach = reach_of(counted.exposures);
    planned.ldp_objective *=
        worst_sum(reach.cwiseAbs2().cwiseProduct(planned.kappa), allowed, config.unit_agents, 1)
            .share;
    const double mean = std::sqrt(planned.kappa.minCoeff());
    planned.cdp_objective *= worst_sum(mean * reach, allowed, config.unit_agents, 2).share;
}

std::optional<PersonFigure> person_figure(const NoisePlan& plan,
                                          const PlanConfig& config,
                                          const std::vector<Exposure>& exposures,
                                          double delta) {
    if (config.unit_agents == 1 || plan.noiseless()) return std::nullopt;
    require_possible_persons(
        "unit-agents", config.unit_agents, plan.agents, plan.distribution(), config.participation);
    PersonFigure figure;
    figure.agents = config.unit_agents;
    figure.worst =
        worst_person(plan, plan.coalition_size, {config.unit_agents, reach_of(exposures), {}});
    figure.guarantee =
        guarantee_of_person(plan, exposures, config.unit_agents, figure.worst.upper, delta);
    figure.probability = joint_probability(exposures, config.unit_agents);
    return figure;
}

std::string text_of(const PersonFigure& figure) {
    const Guarantee& guarantee = figure.guarantee;
    std::string text = fmt::format("epsilon {:.6g}", guarantee.epsilon);
    if (!guarantee.infinite()) text += fmt::format(" ({})", parameter_text(guarantee.loss));
    text += fmt::format(" for a person with records at up to {} agents", figure.agents);
    if (!figure.worst.agents.empty())
        text += fmt::format("; most about one at agents {}", fmt::join(figure.worst.agents, ", "));
    if (!figure.worst.coalition.empty())
        text += fmt::format(", learnt by agent{} {}",
                            figure.worst.coalition.size() == 1 ? "" : "s",
                            fmt::join(figure.worst.coalition, ", "));
    const double gap = 1 - std::sqrt(figure.worst.reached / figure.worst.upper);
    constexpr double noticeable = 1e-5;
    if (gap > noticeable)
        text += fmt::format(
            " (an upper bound: {} at most {:.2g} of mu{})",
            figure.worst.exhaustive ? "every set was tried, loose by" : "loose by",
            gap,
            figure.worst.exhaustive ? "" : "; there are too many sets of agents to try");
    return text;
}

}  // namespace sotto
