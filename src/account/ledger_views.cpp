#include "account/ledger_views.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "account/sent_rounds.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/stopwatch.hpp"
#include "sotto/views/argument.hpp"
#include "sotto/views/process_steps.hpp"
#include "sotto/views/view_label.hpp"
#include "sotto/views/view_losses.hpp"

namespace sotto {

namespace {

std::string statement_about(const LedgerView& entry) {
    const std::string who = label_of_observers(entry.observers);
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

void require_fit_for_a_ledger(const ViewQuery& query, int agents) {
    if (!query.record->allows(ViewUse::ledger))
        throw ConfigError(fmt::format(
            "view: {} takes too long beside a training; ask sotto account --run DIR afterwards",
            name_of(query)));
    const View* const one = query.one_observer();
    if (one != nullptr && static_cast<int>(one->members.size()) == agents)
        throw ConfigError(fmt::format("view: {} leaves nobody to learn about", name_of(query)));
}

/// Agents that are not members and were there.
std::vector<int> targets_of(const View& view, const SentRounds& run) {
    std::vector<int> targets;
    for (int u = 0; u < run.process.plan->agents; ++u)
        if (!view.has_member(u) && run.of(u)) targets.push_back(u);
    return targets;
}

}  // namespace

LedgerViews::LedgerViews(const TrainConfig& config,
                         Topography topography,
                         std::vector<PrivacyPhase> phases,
                         bool fixed_inputs)
    : config_(config),
      topography_(std::move(topography)),
      phases_(std::move(phases)),
      fixed_inputs_(fixed_inputs) {
    if (config.views.empty()) return;
    queries_ = parse_views("view", config.views, topography_.graph);
    // Refused here, rather than after the first rounds.
    plans_ = plans_by_number(phases_);
    (void)process_steps(plans_.back(), config.plan.steps, config.l2, config.plan.rounds);
    for (const ViewQuery& query : queries_)
        require_fit_for_a_ledger(query, topography_.graph.agents());
}

std::vector<LedgerView> LedgerViews::after(long rounds) {
    const auto start = Clock::now();
    std::vector<LedgerView> entries;
    if (queries_.empty()) return entries;
    const SentRounds run = sent_rounds(config_, topography_, phases_, plans_, rounds);
    if (!run.phases.empty())
        for (const ViewQuery& query : queries_) entries.push_back(worst_of(query, run));
    last_ = seconds_since(start);
    spent_ += last_;
    return entries;
}

std::vector<Guarantee> LedgerViews::guarantees(const SentRounds& run,
                                               const View& view,
                                               const std::vector<int>& targets) const {
    const NoisePlan& plan = *run.process.plan;
    const double delta = config_.plan.delta;
    std::vector<Guarantee> result;
    ViewOptions options;
    options.threads = config_.threads;
    // The sum of absolute values will do: a bound too, and the tight one takes as long as many
    // trainings.
    options.tight_gap = 1;
    const auto squared = view_losses(run.process, run.phases.front()->use, view, targets, options);
    for (std::size_t t = 0; t < targets.size(); ++t) {
        result.push_back(
            guarantee_of(plan, run.exposure(targets[t]), squared[t].certified(), delta));
    }
    return result;
}

LedgerView LedgerViews::worst_of(const ViewQuery& query, const SentRounds& run) const {
    LedgerView entry;
    entry.view = name_of(query);
    entry.rounds = run.completed;
    double sum = 0;
    long pairs = 0;
    for (const View& view : query.observers) {
        if (!view.members.empty() &&
            std::ranges::none_of(view.members, [&](int a) { return run.of(a); }))
            continue;
        const Argument argument = argument_of(
            view,
            fixed_inputs_,
            counts_all_messages(run.process, run.phases.front()->use.participation, view));
        entry.argument = argument.text;
        entry.sound = argument.sound;
        const std::vector<int> targets = targets_of(view, run);
        const auto against = guarantees(run, view, targets);
        for (std::size_t t = 0; t < targets.size(); ++t) {
            sum += against[t].epsilon;
            if (++pairs == 1 || entry.worst < against[t]) {
                entry.worst = against[t];
                entry.target = targets[t];
                entry.observers = view.members;
            }
        }
    }
    entry.mean_epsilon = sum / static_cast<double>(std::max(1L, pairs));
    entry.statement = statement_about(entry);
    return entry;
}

}  // namespace sotto
