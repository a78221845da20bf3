#include "audit/audit_subject.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "account/worst_coalition.hpp"
#include "audit/attack.hpp"
#include "audit/canary_record_attack.hpp"
#include "core/numbers.hpp"
#include "planning/build_topography.hpp"
#include "planning/configured_gossip.hpp"
#include "privacy/person_loss.hpp"
#include "sotto/core/error.hpp"
#include "sotto/views/view_losses.hpp"
#include "training/learnt_clip.hpp"
#include "training/run_subject.hpp"
#include "views/view_innovations.hpp"

namespace sotto {

namespace {

void require_confidence(double level) {
    if (!(level > 0.5 && level < 1))
        throw ConfigError(
            fmt::format("--confidence: {} is not allowed (above 0.5, below 1)", level));
}

/// @throws ConfigError if the attack does not cover the run's participation.
void require_participation(const AuditConfig& config) {
    const AttackRecord& attack = attacks().find("--attack", config.attack);
    const Participation& participation = config.train.plan.participation;
    if (participation.poisson && participation.cycle > 1)
        throw ConfigError(
            fmt::format("--participation: {} cannot be audited (allowed: every, cyclic:b, poisson, "
                        "allocation:t)",
                        name_of(participation)));
    if (attack.sampled == participation.is_secret()) return;
    if (attack.sampled)
        throw ConfigError(
            fmt::format("--participation: {} is not possible with --attack {}, whose records take "
                        "part in secret rounds (allowed: poisson, allocation:t, or another attack)",
                        name_of(participation),
                        attack.name));
    const auto& all = attacks().records();
    throw ConfigError(
        fmt::format("--participation: {} is not possible with --attack {} (allowed: every, "
                    "cyclic:b; or --attack {})",
                    name_of(participation),
                    attack.name,
                    std::ranges::find(all, true, &AttackRecord::sampled)->name));
}

bool is_of_worst(const ViewQuery& query) {
    return query.record->asks == ViewRecord::Asks::worst_coalition;
}

/// The observer of --view, or a query for the worst one.
ViewQuery attacking_query(const AuditConfig& config, bool fixed_inputs, const Graph& graph) {
    const ViewQuery query = parse_view("--view", config.view, graph);
    if (!query.record->allows(ViewUse::audit))
        throw ConfigError(
            fmt::format("--view: an audit looks at one observer, not at {} (allowed: {})",
                        name_of(query),
                        view_placeholders(ViewUse::audit)));
    if (is_of_worst(query) && !fixed_inputs)
        throw ConfigError(
            fmt::format("--view: {} is not possible with --attack {}, whose run is not accounted "
                        "for in advance (allowed: the agents that attack)",
                        config.view,
                        config.attack));
    const View* const view = query.one_observer();
    const bool nobody = view != nullptr && agents_outside(*view, graph.agents()).empty();
    if (nobody || (view == nullptr && query.arguments.size >= graph.agents()))
        throw ConfigError(fmt::format(
            "--view: {} leaves nobody to learn about (allowed: all agents but one at most)",
            config.view));
    return query;
}

/// The coalition that learns most about a person with records at some of the targets.
View worst_view_of_person(const ViewQuery& query,
                          const std::vector<int>& targets,
                          const PlanConfig& config,
                          const AccountSubject& account) {
    PersonQuery persons{std::min<int>(config.unit_agents, static_cast<int>(targets.size())),
                        reach_of(account.exposures),
                        {}};
    for (int u = 0; u < account.plan.agents; ++u)
        if (!std::ranges::binary_search(targets, u)) persons.reach(u) = 0;
    const int size = std::min(query.arguments.size, account.plan.agents - 1);
    return {query.record->receives, worst_person(account.plan, size, persons).coalition};
}

/// The coalition that learns most about one of the targets. COLLECTIVE.
View worst_view(const ViewQuery& query,
                const AuditConfig& config,
                const AccountSubject& account,
                Control& network) {
    std::vector<int> targets(static_cast<std::size_t>(account.plan.agents));
    std::iota(targets.begin(), targets.end(), 0);
    if (!config.targets.empty()) targets = config.targets;
    if (config.train.plan.unit_agents > 1)
        return worst_view_of_person(query, targets, config.train.plan, account);
    AskOptions how;
    how.threads = config.train.threads;
    const WorstCoalitions worst = find_worst_coalitions(query, targets, account, how, network);
    const auto loss = [&](const auto& entry) {
        const Exposure& exposure = account.exposures[static_cast<std::size_t>(entry.first)];
        return exposure.sensitivity * std::sqrt(entry.second.squared.certified());
    };
    const auto most = std::ranges::max_element(worst.by_target, {}, loss);
    return {query.record->receives, most->second.members};
}

/// As `--view` names it.
std::string view_name(const View& view, const Graph& graph) {
    return name_of(ViewQuery{record_of(view, graph), {view.members, 0}, {}});
}

SubjectConfig account_config(const AuditConfig& config) {
    const TrainConfig& train = config.train;
    SubjectConfig account;
    account.graph = train.graph;
    account.plan = train.plan;
    account.inputs = Inputs::fixed;
    // Which noise is best depends on it.
    if (train.plan.noise_schedule != PlanConfig{}.noise_schedule) account.l2 = train.l2;
    if (!train.plan.participation.is_secret()) return account;
    // As the run will compute it, with so many records per agent.
    const Exposure exposure = agent_exposure(train.plan.adjacency,
                                             train.plan.participation,
                                             train.plan.clip_norm,
                                             train.plan.rounds,
                                             canary_records_of(config),
                                             train.plan.batch_size.of(canary_records_of(config)));
    account.sensitivity = exposure.sensitivity;
    account.plan.sampling_probability = exposure.sampling_probability;
    return account;
}

/// What is audited is what is accounted for, so both must be given the same numbers.
/// @throws ConfigError where K or b is left to the plan.
void require_given_choices(const AskedPlan& plan) {
    if (plan.open.gossip_steps)
        throw ConfigError(
            "gossip-steps: auto is not possible in an audit (allowed: the K that `sotto plan "
            "--gossip-steps auto` prints)");
    if (plan.open.cycle)
        throw ConfigError(
            "participation: cyclic-poisson:auto is not possible in an audit (allowed: the "
            "cyclic-poisson:b that `sotto plan` prints)");
}

/// The graph of a training that has ended, which an eavesdropper heard.
AuditSubject subject_of_training(const AuditConfig& config, Control& network) {
    std::optional<AuditSubject> subject;
    network.agree([&] {
        require_confidence(config.level);
        RecordedRun run = read_recorded_run(run_of_training(config), config.train);
        View eavesdropper;
        std::string name = view_name(eavesdropper, run.built.topography.graph);
        subject = AuditSubject{
            std::move(eavesdropper), std::move(run.built.topography), nullptr, {}, std::move(name)};
    });
    return std::move(*subject);
}

}  // namespace

MessageProcess attacked_process(const TrainConfig& train, const AccountSubject& account) {
    if (account.plan.aggregation == Aggregation::trusted_mean)
        throw ConfigError(fmt::format(
            "--mechanism: {} cannot be audited: its trusted aggregator is not one of the agents",
            account.plan.mechanism));
    if (account.plan.agents < 2)
        throw ConfigError(
            "--agents: 1 is not enough for an audit, where messages are sent (2 or more)");
    if (!account.built.topography.later_mixing.empty())
        throw ConfigError(
            fmt::format("--mixing-schedule: {} cannot be audited: views are accounted for as if "
                        "every neighbour were heard in every round (allowed: fixed)",
                        train.graph.mixing_schedule));
    MessageProcess process = account.process;
    process.step_sizes = account.use.steps.over(process.rounds());
    return process;
}

const std::string& run_of_training(const AuditConfig& config) {
    if (!config.run)
        throw ConfigError(
            fmt::format("--attack: {} looks at a training that has ended (give --run DIR, the "
                        "directory of a training with --record-view)",
                        config.attack));
    return *config.run;
}

AuditSubject build_audit_subject(const AuditConfig& config, bool fixed_inputs, Control& network) {
    if (config.train.records_steps() && !attacks().find("--attack", config.attack).of_steps)
        throw ConfigError(
            fmt::format("--attack: {} is not possible with --faults, --round-deadline or --robust, "
                        "since no fixed matrix mixes messages (allowed: likelihood, poison:KIND)",
                        config.attack));
    if (attacks().find("--attack", config.attack).of_trainings)
        return subject_of_training(config, network);
    SubjectConfig accounted;
    network.agree([&] {
        require_confidence(config.level);
        require_participation(config);
        require_given_choices(config.train.plan);
        require_given_clip(config.train.plan);
        if (fixed_inputs) accounted = account_config(config);
    });
    std::unique_ptr<AccountSubject> account;
    if (fixed_inputs) account = build_account_subject(accounted, network);
    std::optional<AuditSubject> subject;
    std::optional<Topography> topography;
    std::optional<ViewQuery> query;
    network.agree([&] {
        topography = account ? account->built.topography
                             : build_topography(config.train.graph, config.train.plan).topography;
        query = attacking_query(config, fixed_inputs, topography->graph);
        for (const int target : config.targets)
            require_in_range("--targets", target, 0, topography->graph.agents() - 1);
    });
    View view = is_of_worst(*query) ? worst_view(*query, config, *account, network)
                                    : *query->one_observer();
    network.agree([&] {
        MessageProcess process =
            account ? attacked_process(config.train, *account) : MessageProcess{};
        if (account) require_testable(process, view);
        std::string name = is_of_worst(*query) ? view_name(view, topography->graph) : config.view;
        subject = AuditSubject{std::move(view),
                               *std::move(topography),
                               std::move(account),
                               std::move(process),
                               std::move(name)};
    });
    return std::move(*subject);
}

std::vector<int> agents_outside(const View& view, int agents) {
    std::vector<int> outside;
    for (int u = 0; u < agents; ++u)
        if (!std::ranges::binary_search(view.members, u)) outside.push_back(u);
    return outside;
}

int most_exposed(const std::vector<int>& agents, const std::vector<double>& losses) {
    constexpr double alike = 1e-6;
    const double least = *std::ranges::max_element(losses) * (1 - alike);
    const auto first = std::ranges::find_if(losses, [&](double loss) { return loss >= least; });
    return agents[static_cast<std::size_t>(first - losses.begin())];
}

std::vector<int> distances_from_members(const View& view, const Graph& graph) {
    std::vector<int> nearest(static_cast<std::size_t>(graph.agents()), -1);
    for (const int member : view.members) {
        const std::vector<int> distances = graph.distances_from(member);
        for (std::size_t u = 0; u < nearest.size(); ++u)
            if (nearest[u] < 0 || distances[u] < nearest[u]) nearest[u] = distances[u];
    }
    return nearest;
}

std::optional<int> asked_target(const AuditConfig& config, const AuditSubject& subject) {
    const std::vector<int> asked = asked_targets(config, subject, 1);
    return asked.empty() ? std::nullopt : std::optional(asked.front());
}

std::vector<int> asked_targets(const AuditConfig& config, const AuditSubject& subject, int most) {
    for (const int target : config.targets) {
        require_in_range("--targets", target, 0, subject.topography.graph.agents() - 1);
        if (subject.view.has_member(target))
            throw ConfigError(
                fmt::format("--targets: agent {} is an observer of --view {} and knows its own "
                            "data (allowed: agents that do not observe)",
                            target,
                            config.view));
    }
    if (std::ssize(config.targets) > most)
        throw ConfigError(fmt::format(
            "--targets: {} are {} agents, and the attack asks about at most {} (fewer of them; "
            "with --unit-agents K, --attack likelihood asks about a person at up to K agents)",
            fmt::join(config.targets, ","),
            config.targets.size(),
            most));
    return config.targets;
}

}  // namespace sotto
