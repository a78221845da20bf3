#include "sotto/experiment/ledger_views.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "sotto/core/error.hpp"
#include "sotto/experiment/plan_job.hpp"
#include "view_answers.hpp"

namespace sotto {

namespace {

std::string statement_about(const LedgerView& entry) {
    const std::string who = entry.observers.empty()
                                ? "Whoever sees every message"
                                : fmt::format("Agent{} {}",
                                              entry.observers.size() == 1 ? "" : "s",
                                              fmt::join(entry.observers, ", "));
    if (entry.worst.infinite())
        return fmt::format(
            "{} can compute a noiseless function of the gradients of agent {}: this view breaks "
            "the protection, epsilon is infinite.",
            who,
            entry.target);
    return fmt::format(
        "{}: most is learnt about agent {}.{}",
        who,
        entry.target,
        entry.sound ? ""
                    : " For gradients fixed in advance only: in a training other agents' gradients "
                      "carry data on, and this figure is not a guarantee; the headline is.");
}

}  // namespace

LedgerViews::LedgerViews(const TrainConfig& config,
                         const Topography& topography,
                         const NoisePlan& plan,
                         const std::vector<Exposure>& exposures,
                         bool fixed_inputs)
    : config_(config),
      topography_(topography),
      plan_(plan),
      exposures_(exposures),
      fixed_inputs_(fixed_inputs) {
    if (config.views.empty()) return;
    queries_ = parse_views("view", config.views, topography.graph);
    // Refused here, rather than after the first rounds.
    (void)process_steps(plan, config.plan.steps, config.l2, config.plan.rounds);
    for (const ViewQuery& query : queries_) {
        if (query.kind == ViewQuery::Kind::worst_coalition ||
            query.kind == ViewQuery::Kind::worst_all_messages)
            throw ConfigError(fmt::format(
                "view: {} takes too long beside a training; ask sotto account, with --plan and the "
                "run's plan.json",
                name_of(query)));
        if (static_cast<int>(query.members.size()) == plan.agents)
            throw ConfigError(fmt::format("view: {} leaves nobody to learn about", name_of(query)));
    }
}

std::vector<LedgerView> LedgerViews::after(long rounds) {
    const auto start = std::chrono::steady_clock::now();
    std::vector<LedgerView> entries;
    if (rounds > 0)
        for (const ViewQuery& query : queries_) entries.push_back(worst_of(query, rounds));
    last_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    spent_ += last_;
    return entries;
}

LedgerView LedgerViews::worst_of(const ViewQuery& query, long rounds) const {
    MessageProcess process;
    process.graph = &topography_.graph;
    process.plan = &plan_;
    process.phases.push_back({rounds, topography_.schedule(), {}});
    process.gossip_steps = config_.plan.gossip_steps;
    process.step_sizes = process_steps(plan_, config_.plan.steps, config_.l2, rounds);
    const PlanUse use = plan_use(config_.plan, topography_.mixing);
    ViewOptions options;
    options.threads = config_.threads;
    // The sum of absolute values will do: a bound too, and the tight one takes as long as many
    // trainings.
    options.tight_gap = 1;

    std::vector<std::vector<int>> observers;
    if (query.kind == ViewQuery::Kind::all_nodes) {
        for (int u = 0; u < plan_.agents; ++u) observers.push_back({u});
    } else {
        observers.push_back(query.members);
    }
    LedgerView entry;
    entry.view = name_of(query);
    entry.rounds = rounds;
    double sum = 0;
    long pairs = 0;
    for (const auto& members : observers) {
        const View view{query.view_kind(), members};
        const Argument argument = argument_of(view, fixed_inputs_, plan_.distribution());
        entry.argument = argument.text;
        entry.sound = argument.sound;
        std::vector<int> targets;
        for (int u = 0; u < plan_.agents; ++u)
            if (!std::ranges::binary_search(members, u)) targets.push_back(u);
        const auto squared = view_losses(process, use, view, targets, options);
        for (std::size_t t = 0; t < targets.size(); ++t) {
            const double unit = exposures_[static_cast<std::size_t>(targets[t])].sensitivity;
            const Guarantee guarantee =
                guarantee_of(plan_, unit * std::sqrt(squared[t].certified()), config_.plan.delta);
            sum += guarantee.epsilon;
            if (++pairs == 1 || entry.worst < guarantee) {
                entry.worst = guarantee;
                entry.target = targets[t];
                entry.observers = members;
            }
        }
    }
    entry.mean_epsilon = sum / static_cast<double>(std::max(1L, pairs));
    entry.statement = statement_about(entry);
    return entry;
}

}  // namespace sotto
