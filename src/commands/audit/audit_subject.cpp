#include "commands/audit/audit_subject.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "commands/audit/attack.hpp"
#include "commands/audit/canary_record_attack.hpp"
#include "run/build_topography.hpp"
#include "run/configured_gossip.hpp"
#include "run/learnt_clip.hpp"
#include "sotto/core/error.hpp"
#include "sotto/views/view_innovations.hpp"
#include "sotto/views/view_query.hpp"

namespace sotto {

namespace {

void require_confidence(double level) {
    if (!(level > 0.5 && level < 1))
        throw ConfigError(
            fmt::format("--confidence: {} is not allowed (above 0.5, below 1)", level));
}

/// @throws ConfigError where the attack is about another participation than the run's.
void require_participation(const AuditConfig& config) {
    const AttackRecord& attack = attacks().find("--attack", config.attack);
    const Participation& participation = config.train.plan.participation;
    if (participation.poisson && participation.cycle > 1)
        throw ConfigError(
            fmt::format("--participation: {} cannot be audited (allowed: every, cyclic:b, poisson)",
                        name_of(participation)));
    if (attack.sampled == participation.poisson) return;
    if (attack.sampled)
        throw ConfigError(
            fmt::format("--participation: {} is not possible with --attack {}, whose records take "
                        "part by secret coins (allowed: poisson; other attacks have the others)",
                        name_of(participation),
                        attack.name));
    const auto& all = attacks().records();
    throw ConfigError(
        fmt::format("--participation: poisson is not possible with --attack {} (allowed: every, "
                    "cyclic:b; or --attack {})",
                    attack.name,
                    std::ranges::find(all, true, &AttackRecord::sampled)->name));
}

/// The observer of --view.
View attacking_view(const std::string& text, const Graph& graph) {
    const ViewQuery query = parse_view("--view", text, graph);
    const View* const view = query.one_observer();
    if (!query.record->allows(ViewUse::audit) || view == nullptr)
        throw ConfigError(
            fmt::format("--view: an audit looks at one observer, not at {} (allowed: {})",
                        name_of(query),
                        view_placeholders(ViewUse::audit)));
    if (agents_outside(*view, graph.agents()).empty())
        throw ConfigError(fmt::format("--view: {} leaves nobody to learn about", text));
    return *view;
}

SubjectConfig account_config(const AuditConfig& config) {
    const TrainConfig& train = config.train;
    SubjectConfig account;
    account.graph = train.graph;
    account.plan = train.plan;
    account.fixed_inputs = true;
    if (!train.plan.participation.poisson) return account;
    // As the run will find it, whose agents have so many records.
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
    process.step_sizes = train.plan.steps.over(train.plan.rounds);
    return process;
}

}  // namespace

AuditSubject build_audit_subject(const AuditConfig& config, bool fixed_inputs, Network& network) {
    SubjectConfig accounted;
    network.agree([&] {
        require_confidence(config.level);
        require_participation(config);
        require_chosen_gossip_steps(config.train.plan);
        require_given_clip(config.train.plan);
        if (fixed_inputs) accounted = account_config(config);
    });
    std::unique_ptr<AccountSubject> account;
    if (fixed_inputs) account = build_account_subject(accounted, network);
    std::optional<AuditSubject> subject;
    network.agree([&] {
        Topography topography =
            account ? account->built.topography
                    : build_topography(config.train.graph, config.train.plan).topography;
        View view = attacking_view(config.view, topography.graph);
        MessageProcess process =
            account ? attacked_process(config.train, *account) : MessageProcess{};
        if (account) require_testable(process, view);
        subject = AuditSubject{
            std::move(view), std::move(topography), std::move(account), std::move(process)};
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

}  // namespace sotto
