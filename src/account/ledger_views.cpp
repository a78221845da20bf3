#include "account/ledger_views.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <mutex>

#include "account/account_subject.hpp"
#include "account/protected_views.hpp"
#include "core/bytes.hpp"
#include "core/parallel.hpp"
#include "core/stopwatch.hpp"
#include "sotto/core/error.hpp"
#include "sotto/views/view_losses.hpp"
#include "views/process_checks.hpp"
#include "views/view_parameter.hpp"

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
        entry.sound
            ? ""
            : " This holds for gradients fixed in advance only: in a training other agents' "
              "gradients carry data on, so this figure is not a guarantee; the headline is.");
}

void require_fit_for_a_ledger(const ViewQuery& query, int agents) {
    if (!query.record->allows(ViewUse::ledger))
        throw ConfigError(
            fmt::format("view: {} takes too long to compute during a training; run `sotto account "
                        "--run DIR` afterwards",
                        name_of(query)));
    const View* const one = query.one_observer();
    if (one != nullptr && static_cast<int>(one->members.size()) == agents)
        throw ConfigError(fmt::format(
            "view: {} leaves nobody to learn about (allowed: all agents but one at most)",
            name_of(query)));
}

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
                         Inputs inputs)
    : config_(config),
      topography_(std::move(topography)),
      phases_(std::move(phases)),
      inputs_(inputs) {
    if (config.views.empty()) return;
    queries_ = parse_views("view", config.views, topography_.graph);
    // Refuse before the first rounds.
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

Inputs LedgerViews::inputs_of(const SentRounds& run) const {
    return inputs_ == Inputs::convex && !of_the_same_agents(run.process) ? Inputs::adaptive
                                                                         : inputs_;
}

std::vector<Guarantee> LedgerViews::guarantees(const SentRounds& run,
                                               const View& view,
                                               const std::vector<int>& targets) const {
    const NoisePlan& plan = *run.process.plan;
    const double delta = config_.plan.delta;
    std::vector<Guarantee> result;
    ViewOptions options;
    options.threads = config_.threads;
    options.inputs = inputs_of(run);
    // The sum of absolute values is a bound too; the tight one takes as long as many trainings.
    const bool protects =
        parse_protected_views("protect-against", config_.protect_against).partial();
    options.tight_gap = protects ? gap_of_protection : 1;
    const auto squared = view_losses(run.process, run.phases.front()->use, view, targets, options);
    for (std::size_t t = 0; t < targets.size(); ++t) {
        result.push_back(with_surveys(
            guarantee_of(plan, run.exposure(targets[t]), squared[t].certified(), delta),
            run.surveys,
            view.members,
            targets[t]));
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
            inputs_of(run),
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

namespace {

/// The questions of one process.
std::vector<std::size_t> share_of(const Control& network,
                                  std::size_t questions,
                                  std::size_t process) {
    std::vector<std::size_t> mine;
    for (std::size_t i = process; i < questions; i += static_cast<std::size_t>(network.processes()))
        mine.push_back(i);
    return mine;
}

Answers answer_share(const std::vector<std::size_t>& mine,
                     const AccountSubject& subject,
                     const std::vector<Question>& questions,
                     const AskOptions& all_options) {
    // A single observer uses all threads; several use one each.
    const bool many = mine.size() > 1;
    ViewOptions options = all_options;
    std::mutex telling;
    long done = 0;
    options.threads = many ? 1 : all_options.threads;
    Answers answers(questions.size());
    parallel_for(static_cast<long>(mine.size()), many ? all_options.threads : 1, [&](long k) {
        const std::size_t i = mine[static_cast<std::size_t>(k)];
        answers[i] = view_losses(
            subject.process, subject.use, questions[i].view, questions[i].targets, options);
        const std::lock_guard lock(telling);
        if (++done; all_options.on_answer) all_options.on_answer(done, std::ssize(mine));
    });
    return answers;
}

template <class Squared>
auto figures_of(Squared& value) {
    return std::array{&value.constant_sign,
                      &value.abs_sum,
                      &value.tight_lower,
                      &value.tight_upper,
                      &value.trivial};
}

std::string packed(const Answers& answers, const std::vector<std::size_t>& mine) {
    ByteWriter writer;
    for (const std::size_t i : mine)
        for (const SquaredSensitivity& value : answers[i]) {
            writer.put(static_cast<std::uint8_t>(value.infinite ? 1 : 0));
            for (const double* number : figures_of(value)) writer.put(*number);
        }
    return writer.take();
}

/// If one process has all questions.
std::uint64_t largest_answers_bytes(const std::vector<Question>& questions) {
    std::uint64_t targets = 0;
    for (const Question& question : questions) targets += question.targets.size();
    SquaredSensitivity value;
    return targets * (sizeof(std::uint8_t) + figures_of(value).size() * sizeof(double));
}

SquaredSensitivity read_answer(ByteReader& reader) {
    SquaredSensitivity value;
    value.infinite = reader.get<std::uint8_t>() != 0;
    for (double* number : figures_of(value)) *number = reader.get<double>();
    return value;
}

}  // namespace

Answers answer(Control& network,
               const AccountSubject& subject,
               const std::vector<Question>& questions,
               const AskOptions& options) {
    const auto mine =
        share_of(network, questions.size(), static_cast<std::size_t>(network.process()));
    Answers answers;
    network.agree([&] { answers = answer_share(mine, subject, questions, options); });
    if (network.processes() == 1) return answers;
    const auto all = network.all_gather(packed(answers, mine), largest_answers_bytes(questions));
    network.agree([&] {
        for (std::size_t p = 0; p < all.size(); ++p) {
            ByteReader reader(all[p], fmt::format("the answers of rank {}", p));
            for (const std::size_t i : share_of(network, questions.size(), p)) {
                answers[i].clear();
                for (std::size_t t = 0; t < questions[i].targets.size(); ++t)
                    answers[i].push_back(read_answer(reader));
            }
            reader.require_done();
        }
    });
    return answers;
}

std::vector<int> without(const std::vector<int>& targets, const std::vector<int>& members) {
    std::vector<int> rest;
    std::ranges::set_difference(targets, members, std::back_inserter(rest));
    return rest;
}

}  // namespace sotto
