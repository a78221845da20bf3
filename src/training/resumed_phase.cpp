#include "training/resumed_phase.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sotto/core/error.hpp"
#include "sotto/core/numbers.hpp"
#include "sotto/graph/mixing_file.hpp"
#include "sotto/privacy/accountant.hpp"
#include "sotto/privacy/composition.hpp"
#include "store/own_record.hpp"

namespace sotto {

void require_same_task(const LocalTask& task, const Resumption& resumption) {
    for (std::size_t a = 0; a < resumption.local.size(); ++a) {
        const Checkpoint& own = resumption.local[a];
        if (own.records != task.objectives[a]->records())
            throw DataError(fmt::format(
                "agent {}: its data have {} records, those of the checkpoint had {}; take up the "
                "run with the same data",
                own.agent,
                task.objectives[a]->records(),
                own.records));
        if (committed(own.data.key, digest_of_agent(task.digests, a)) != own.data.value)
            throw DataError(fmt::format(
                "agent {}: its files hold other records than when the run began, or in another "
                "order (by the digest in its checkpoint); take up the run with the same data",
                own.agent));
        if (own.round > 0 && own.model.size() != task.initial.size())
            throw DataError(fmt::format(
                "agent {}: the model has {} parameters, that of the checkpoint {}; take up the run "
                "with the same data and task",
                own.agent,
                task.initial.size(),
                own.model.size()));
    }
}

namespace {

/// Whether agents keep means of their models after so many rounds (ModelMean).
bool keep_means(const PlanConfig& plan, long round) {
    const ModelAverage& average = plan.average;
    return average.kind == ModelAverage::Kind::exponential ||
           (average.kind == ModelAverage::Kind::tail &&
            round > plan.rounds - average.tail_rounds(plan.rounds));
}

}  // namespace

void let_enter(Resumption& resumption, const LocalTask& task, const TrainConfig& config) {
    for (std::size_t a = 0; a < resumption.local.size(); ++a) {
        Checkpoint& own = resumption.local[a];
        if (!std::ranges::binary_search(config.resume->joining, own.agent)) continue;
        own.records = task.objectives[a]->records();
        own.data = commit_to_data(digest_of_agent(task.digests, a));
        if (own.round == 0) continue;
        own.model = task.initial;
        if (config.plan.momentum > 0) own.velocity.setZero(own.model.size());
        if (keep_means(config.plan, own.round)) own.mean = own.model;
    }
}

namespace {

/// The plan of the phase that ended, or goes on.
const NoisePlan& last_plan(const Resumption& resumption) {
    return resumption.going_on ? resumption.going_on->plan : resumption.past.back().plan;
}

}  // namespace

PrivacyLosses spent_before(const Resumption& resumption,
                           const PlanConfig& phase,
                           const Membership& members) {
    PrivacyLosses spent(members.all);
    const int colluders = coalition_size_of(phase, members.size(), &last_plan(resumption));
    for (const PrivacyPhase& past : resumption.past) spent.add(past, past.rounds, colluders);
    return spent;
}

void require_everybody_for(const NoisePlan& plan, const Membership& members) {
    if (plan.same_message_to_all() || members.size() == members.all) return;
    throw ConfigError(fmt::format(
        "--without, --spares: not possible with mechanism {}, whose contributions stay in every "
        "agent's own copy (allowed with mechanisms that send the same message to all)",
        plan.mechanism));
}

std::vector<PrivacyBudget> phase_budgets(std::vector<PrivacyBudget> budgets,
                                         const Resumption& resumption,
                                         const PlanConfig& phase,
                                         const Topography& topography,
                                         const Membership& members) {
    const NoisePlan& known = last_plan(resumption);
    require_everybody_for(known, members);
    if (known.noiseless() || phase.noise_std) return budgets;
    for (PrivacyBudget& budget : budgets)
        budget = budget_against(known.distribution(), budget, phase.delta, phase.calibration);
    const PrivacyLosses spent = spent_before(resumption, phase, members);
    const bool independent = known.same_message_to_all() && known.entry == NoiseEntry::gradient &&
                             known.temporal.kind == TemporalFactor::Kind::identity;
    return remaining_budgets(std::move(budgets),
                             spent,
                             members,
                             plan_use(phase, topography.mixing),
                             phase.rounds,
                             independent);
}

PlannedNoise plan_phase(const PlanConfig& phase,
                        const Topography& topography,
                        const std::vector<Exposure>& exposures,
                        const std::vector<PrivacyBudget>& budgets,
                        bool resumed) {
    PlannedNoise planned = plan_noise(phase, topography, exposures, budgets);
    NoisePlan& plan = planned.design.plan;
    if (!resumed || !phase.plan_file || plan.noiseless()) return planned;
    const Eigen::VectorXd squared =
        run_sensitivity_squared(plan, plan_use(phase, topography.mixing), phase.rounds);
    const Eigen::VectorXd precision =
        coalition_precision(plan, coalition_size_of(phase, plan.agents, &plan));
    double louder = 1;
    for (std::size_t u = 0; u < budgets.size(); ++u) {
        const auto place = static_cast<Eigen::Index>(u);
        const double distance =
            exposures[u].sensitivity * std::sqrt(squared(place) * precision(place));
        const double allowed = largest_squared_distance(plan.distribution(), budgets[u].limit);
        louder = std::max(louder, distance / std::sqrt(allowed));
    }
    plan.scale *= louder;
    return planned;
}

PlannedNoise kept_plan(const PrivacyPhase& phase, const PlanConfig& config) {
    PlannedNoise planned;
    planned.design.plan = phase.plan;
    planned.design.objective = planned.design.lower_bound = not_a_number;
    planned.utility = config.utility;
    planned.solved = false;
    planned.kept = true;
    return planned;
}

PrivacyPhase going_on_as(const PrivacyPhase& before,
                         const PrivacyPhase& now,
                         const PlanConfig& config) {
    constexpr double rounding = 1e-9;  // weights that another machine computes
    PrivacyPhase alike = now;
    if (alike.use.own_weights.isApprox(before.use.own_weights, rounding))
        alike.use.own_weights = before.use.own_weights;
    for (const int number : now.members.numbers) {
        if (before.members.place(number) < 0)
            throw PrivacyError(fmt::format("agent {} is new in a phase that goes on", number));
        const PhaseFacts then = facts_of(before, number, config.adjacency, config.delta);
        const PhaseFacts today = facts_of(alike, number, config.adjacency, config.delta);
        for (std::size_t k = 0; k < then.size(); ++k)
            if (then[k] != today[k])
                throw PrivacyError(fmt::format(
                    "agent {}: the phase that goes on was counted with {} {}, the options of today "
                    "say {} (go on with the options the run was started with)",
                    number,
                    then[k].first,
                    then[k].second,
                    today[k].second));
    }
    PrivacyPhase phase = before;
    phase.rounds = now.rounds;
    phase.sessions.insert(phase.sessions.end(), now.sessions.begin(), now.sessions.end());
    return phase;
}

}  // namespace sotto
