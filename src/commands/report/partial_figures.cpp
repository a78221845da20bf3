#include "commands/report/partial_figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "account/view_answers.hpp"
#include "commands/report/shown_observers.hpp"
#include "sotto/core/error.hpp"
#include "sotto/views/view_losses.hpp"

namespace sotto {

namespace {

/// Partial views of longer runs take minutes and gigabytes each: matrices rounds x rounds.
constexpr long most_partial_rounds = 5000;

/// Agents that were there when messages were sent.
std::vector<int> agents_there(const MessageProcess& process) {
    std::vector<int> there;
    for (int u = 0; u < process.plan->agents; ++u)
        if (std::ranges::any_of(process.phases,
                                [&](const Phase& phase) { return !phase.has_departed(u); }))
            there.push_back(u);
    return there;
}

/// Asks about everybody who was there and is not a member; about nobody where no member was there.
Question question_of(View::Kind kind,
                     const std::vector<int>& observers,
                     const std::vector<int>& there) {
    Question question;
    question.view.kind = kind;
    std::ranges::set_intersection(observers, there, std::back_inserter(question.view.members));
    if (!question.view.members.empty()) question.targets = without(there, question.view.members);
    return question;
}

/// Epsilon of every agent; NaN of those who were not asked about.
std::vector<float> epsilons_of(const Question& question,
                               const std::vector<SquaredSensitivity>& answer,
                               const AccountSubject& subject) {
    std::vector<float> row(static_cast<std::size_t>(subject.plan.agents),
                           std::numeric_limits<float>::quiet_NaN());
    for (std::size_t t = 0; t < question.targets.size(); ++t) {
        const auto target = static_cast<std::size_t>(question.targets[t]);
        row[target] = static_cast<float>(
            guarantee_of(
                subject.plan, subject.exposures[target], answer[t].certified(), subject.delta)
                .epsilon);
    }
    return row;
}

}  // namespace

View::Kind partial_view_of(const RecordedRun& run) {
    return run.config.secure_sum ? View::Kind::secure_sum : View::Kind::neighbours;
}

bool all_messages_stand_for_partial_views(const RecordedRun& run) {
    const auto& phases = run.history.phases;
    return phases.size() == 1 && phases.front().plan.same_message_to_all() &&
           accounted_by_all_messages(run, partial_view_of(run));
}

ObserverFigures figures_as_of_all_messages(const RecordedRun& run, const ObserverFigures& all) {
    ObserverFigures figures = blank_figures(run, partial_view_of(run), 1);
    if (all.observers < 2) {
        figures.note = all.note;
        return figures;
    }
    // All but the eavesdropper, who is no agent.
    figures.observers = all.observers - 1;
    figures.epsilon.assign(all.epsilon.begin() + all.agents, all.epsilon.end());
    if (all.out_of_time) figures.note = "there are as many as of those with every message";
    return figures;
}

ObserverFigures figures_of_partial_views(const RecordedRun& run,
                                         const ReportConfig& config,
                                         Clock::time_point until,
                                         Clock::time_point coalitions_until) {
    ObserverFigures figures = blank_figures(run, partial_view_of(run), 1);
    if (figures.agents < 2) return figures;
    const auto subject = account_subject_of(run);
    if (subject->process.rounds() > most_partial_rounds)
        throw ConfigError(fmt::format(
            "partial views of {} rounds are too much work for a page (up to {} rounds are shown; "
            "sotto account --run has them)",
            subject->process.rounds(),
            most_partial_rounds));
    const std::vector<int> there = agents_there(subject->process);
    const auto row = [&](const std::vector<int>& members) {
        const Question question = question_of(figures.kind, members, there);
        return epsilons_of(
            question,
            view_losses(subject->process, subject->use, question.view, question.targets, {}),
            *subject);
    };
    const int largest = std::min(largest_shown_coalition(figures.agents, config.coalition_size),
                                 figures.agents - 1);
    long asked = 0;
    for (int size = 1; size <= std::max(largest, 1); ++size) {
        const auto observers = coalitions_by_size(figures.agents, size, size);
        if (figures.observers == asked)
            add_observers(
                figures, observers, size == 1 ? until : coalitions_until, config.threads, row);
        asked += std::ssize(observers);
    }
    figures.out_of_time = figures.observers < asked;
    if (figures.out_of_time) figures.note = out_of_time_note(figures, asked, config.time_limit);
    return figures;
}

}  // namespace sotto
