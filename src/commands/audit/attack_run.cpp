#include "commands/audit/attack_run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "sotto/core/error.hpp"
#include "sotto/views/view_query.hpp"

namespace sotto {

View attacking_view(const AuditConfig& config, const Graph& graph) {
    const ViewQuery query = parse_view("--view", config.view, graph);
    switch (query.kind) {
        case ViewQuery::Kind::all_nodes:
        case ViewQuery::Kind::worst_coalition:
        case ViewQuery::Kind::worst_all_messages:
            throw ConfigError(fmt::format(
                "--view: an audit looks at one observer, not at {} (allowed: "
                "eavesdropper, node:a, coalition:a,b, secure-sum:a,b, all-messages:a,b)",
                name_of(query)));
        default:
            break;
    }
    View view{query.view_kind(), query.members};
    if (agents_outside(view, graph.agents()).empty())
        throw ConfigError(fmt::format("--view: {} leaves nobody to learn about", config.view));
    return view;
}

void require_confidence(const AuditConfig& config) {
    if (!(config.level > 0.5 && config.level < 1))
        throw ConfigError(
            fmt::format("--confidence: {} is not allowed (above 0.5, below 1)", config.level));
}

std::unique_ptr<AccountSubject> attacked_subject(const AuditConfig& config, Network& network) {
    SubjectConfig account;
    account.graph = config.train.graph;
    account.plan = config.train.plan;
    account.fixed_inputs = true;
    return build_account_subject(account, network);
}

MessageProcess attacked_process(const AuditConfig& config, const AccountSubject& subject) {
    if (subject.plan.aggregation == Aggregation::trusted_mean)
        throw ConfigError(fmt::format(
            "--mechanism: {} cannot be audited: its trusted aggregator is not one of the agents",
            subject.plan.mechanism));
    if (subject.plan.agents < 2)
        throw ConfigError(
            "--agents: 1 is not enough for an audit, where messages are sent (2 or more)");
    if (!subject.built.topography.later_mixing.empty())
        throw ConfigError(
            fmt::format("--mixing-schedule: {} cannot be audited: views are accounted for as if "
                        "every neighbour "
                        "were heard in every round (allowed: fixed)",
                        config.train.graph.mixing_schedule));
    MessageProcess process = subject.process;
    process.step_sizes = config.train.plan.steps.over(config.train.plan.rounds);
    return process;
}

std::vector<int> agents_outside(const View& view, int agents) {
    std::vector<int> outside;
    for (int u = 0; u < agents; ++u)
        if (!std::ranges::binary_search(view.members, u)) outside.push_back(u);
    return outside;
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

TrainConfig of_fixed_inputs(TrainConfig train) {
    train.l2 = 0;
    train.evaluate_every = train.plan.rounds;
    train.optimality_gap = false;
    return train;
}

std::string run_recorded(TrainConfig train,
                         const View& view,
                         Network& network,
                         TrainingListener& observer,
                         const std::function<bool()>& stop_requested,
                         const std::function<LocalTask()>& make_task) {
    train.secure_sum = view.kind == View::Kind::secure_sum;
    train.record_views = view.members;
    train.record_wire = view.kind != View::Kind::neighbours;
    const long rounds = train.plan.rounds;
    const TrainResult trained = run_training(train, network, observer, stop_requested, make_task);
    if (trained.interrupted)
        throw Error(ExitCode::other,
                    fmt::format("stopped after {} of {} rounds; there is nothing to analyse",
                                trained.rounds,
                                rounds));
    return trained.run_directory;
}

void add_leaks(const RecordedMessages& recorded,
               const NoisePlan& plan,
               std::vector<std::string>& findings) {
    for (const auto& [agent, group] : recorded.leaked_seeds())
        findings.push_back(
            fmt::format("agent {} holds the seed of group {}, whose members are {}",
                        agent,
                        group,
                        fmt::join(plan.groups[static_cast<std::size_t>(group)].members, ", ")));
}

}  // namespace sotto
