#include "run/resumed_phase.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sotto/core/error.hpp"
#include "sotto/core/numbers.hpp"
#include "sotto/graph/mixing_file.hpp"
#include "sotto/privacy/accountant.hpp"
#include "sotto/privacy/composition.hpp"

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

PrivacyPhase complete_phase(PrivacyPhase phase,
                            const PlanConfig& config,
                            const MixingMatrix& mixing) {
    const long first = phase.use.steps.first_round;
    phase.use = plan_use(config, mixing);
    phase.use.steps.first_round = first;
    return phase;
}

Resumption complete_phases(Resumption resumption,
                           const PlanConfig& config,
                           const Topography& topography) {
    for (PrivacyPhase& phase : resumption.past)
        phase = complete_phase(std::move(phase), config, topography.mixing);
    if (resumption.going_on)
        resumption.going_on =
            complete_phase(std::move(*resumption.going_on), config, topography.mixing);
    return resumption;
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

void require_counted(const Resumption& resumption, int coalition_size) {
    // As it was at the checkpoint: the bound of correlated rounds may fall as rounds are added.
    PrivacyLosses counted(
        (resumption.past.empty() ? *resumption.going_on : resumption.past.front()).members.all);
    for (int k = 0; k <= resumption.checkpoint_phase; ++k) {
        const bool last = k == resumption.checkpoint_phase;
        const PrivacyPhase& phase = k < static_cast<int>(resumption.past.size())
                                        ? resumption.past[static_cast<std::size_t>(k)]
                                        : *resumption.going_on;
        counted.add(phase,
                    last ? resumption.round - phase.use.steps.first_round : phase.rounds,
                    coalition_size);
    }
    for (const Checkpoint& own : resumption.local)
        for (Eigen::Index pattern = 0; pattern < own.spent.size(); ++pattern) {
            const double said = counted.of(own.agent, static_cast<long>(pattern)).largest_part();
            if (!(said >= own.spent(pattern) * (1 - 1e-9)) && !std::isinf(said))
                throw PrivacyError(fmt::format(
                    "agent {}: the run's history counts {:.9g} of what it has revealed, its own "
                    "checkpoint {:.9g}; the history is not that of this run",
                    own.agent,
                    said,
                    own.spent(pattern)));
        }
}

}  // namespace sotto
