#include "run/resumed_phase.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "sotto/core/error.hpp"
#include "sotto/core/names.hpp"
#include "sotto/noise/seed_groups.hpp"
#include "sotto/privacy/accountant.hpp"
#include "sotto/privacy/composition.hpp"

namespace sotto {

Membership members_without(const RunHistory& history, const std::vector<int>& leaving) {
    const Membership& before = history.phases.back().members;
    for (const int number : leaving)
        if (before.place(number) < 0)
            throw ConfigError(fmt::format(
                "--without: agent {} {} (allowed: those still there, {})",
                number,
                number >= 0 && number < before.all ? "has already left" : "does not exist",
                fmt::join(before.numbers, ", ")));
    Membership members{before.all, {}};
    std::ranges::set_difference(before.numbers, leaving, std::back_inserter(members.numbers));
    if (members.numbers.empty()) throw ConfigError("--without: nobody is left");
    return members;
}

void require_agents_for(const Membership& members, const Network& network) {
    if (members.size() != network.agents())
        throw ConfigError(fmt::format(
            "agents: {} of the run's {} take part, but there are {} {}",
            members.size(),
            members.all,
            network.agents(),
            network.processes() > 1 ? "MPI ranks (every rank is one agent)" : "agents"));
}

void keep_members(BuiltTopography& built, const TrainConfig& config, const Membership& members) {
    if (members.size() == members.all) return;
    const std::vector<int> gone = members.gone();
    const std::string who = fmt::format("{}", fmt::join(gone, ","));
    const auto refuse = [&](const std::string& option, const std::string& why) {
        throw ConfigError(
            fmt::format("--without: not possible with --{}, {} (agents {})", option, why, who));
    };
    const auto rules = mixing_names();
    if (std::ranges::find(rules, config.graph.mixing) == rules.end())
        refuse("mixing FILE", "whose weights are for all agents");
    if (!built.topography.later_mixing.empty())
        refuse("mixing-schedule", "whose matrices are for all agents");
    if (config.plan.plan_file) refuse("plan", "whose noise is for all agents");
    if (is_seed_group_file(config.plan.seed_groups)) refuse("seed-groups FILE", "which names them");
    if (!config.record_views.empty() || config.record_wire)
        refuse("record-view", "whose files are of all agents");
    Graph rest = built.topography.graph.induced_subgraph(members.numbers);
    const auto components = rest.components();
    for (int place = 0; place < rest.agents(); ++place)
        if (components[static_cast<std::size_t>(place)] != components.front())
            throw ConfigError(fmt::format(
                "--without: once agents {} have left, agent {} is not connected to agent {} any "
                "more (let others leave too, or start a run on another graph)",
                who,
                members.number(place),
                members.number(0)));
    MixingMatrix mixing = make_mixing(rest, config.graph.mixing);
    built.topography = {std::move(rest), std::move(mixing), {}};
    built.description += fmt::format(", without {}", who);
}

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
        if (own.model.size() != task.initial.size())
            throw DataError(fmt::format(
                "agent {}: the model has {} parameters, that of the checkpoint {}; take up the run "
                "with the same data and task",
                own.agent,
                task.initial.size(),
                own.model.size()));
    }
}

void complete_phase(PrivacyPhase& phase, const PlanConfig& config, const MixingMatrix& mixing) {
    const long first = phase.use.steps.first_round;
    phase.use = plan_use(config, mixing);
    phase.use.steps.first_round = first;
}

void complete_phases(Resumption& resumption,
                     const PlanConfig& config,
                     const Topography& topography) {
    for (PrivacyPhase& phase : resumption.past) complete_phase(phase, config, topography.mixing);
    if (resumption.going_on) complete_phase(*resumption.going_on, config, topography.mixing);
}

std::vector<PrivacyBudget> phase_budgets(std::vector<PrivacyBudget> budgets,
                                         const Resumption& resumption,
                                         const PlanConfig& phase,
                                         const Topography& topography,
                                         const Membership& members) {
    const NoisePlan& known =
        resumption.going_on ? resumption.going_on->plan : resumption.past.back().plan;
    if (!known.same_message_to_all() && members.size() != members.all)
        throw ConfigError(fmt::format(
            "--without: not possible with mechanism {}, whose contributions stay in every agent's "
            "own copy (allowed with mechanisms that send the same message to all)",
            known.mechanism));
    if (known.noiseless() || phase.noise_std) return budgets;
    for (PrivacyBudget& budget : budgets)
        budget = budget_against(known.distribution(), budget, phase.delta, phase.calibration);
    PrivacyLosses spent(members.all);
    const int colluders = coalition_size_of(phase, members.size(), &known);
    for (const PrivacyPhase& past : resumption.past) spent.add(past, past.rounds, colluders);
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
    planned.design.objective = planned.design.lower_bound =
        std::numeric_limits<double>::quiet_NaN();
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
            const double said = counted.of(own.agent, static_cast<long>(pattern)).amount().value;
            if (!(said >= own.spent(pattern) * (1 - 1e-9)) && !std::isinf(said))
                throw PrivacyError(fmt::format(
                    "agent {}: the run's history counts {:.9g} of what it has revealed, its own "
                    "checkpoint {:.9g}; the history is not that of this run",
                    own.agent,
                    said,
                    own.spent(pattern)));
        }
}

std::string resumption_text(const ResumedRun& resumed, const Resumption& resumption) {
    std::string text = fmt::format(
        "resumed    after {} rounds, {}\n",
        resumed.round,
        resumed.same_keys
            ? std::string("with the same keys")
            : fmt::format("with new keys (epoch {}) and a plan for what is left of the budget",
                          resumed.key_epoch));
    if (resumed.repeated > 0)
        text += fmt::format(
            "           {} round{} before the failure may have left: they count, and are done "
            "again\n",
            resumed.repeated,
            resumed.repeated == 1 ? "" : "s");
    if (!resumed.agents_gone.empty())
        text += fmt::format("           without agent{} {}\n",
                            resumed.agents_gone.size() == 1 ? "" : "s",
                            fmt::join(resumed.agents_gone, ", "));
    for (const std::string& note : resumption.notes) text += "           " + note + "\n";
    return text;
}

}  // namespace sotto
