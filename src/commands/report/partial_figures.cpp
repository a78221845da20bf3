#include "commands/report/partial_figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "commands/report/shown_observers.hpp"
#include "run/view_answers.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/stopwatch.hpp"
#include "sotto/net/memory_network.hpp"

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
        row[target] = static_cast<float>(guarantee_of(subject.plan,
                                                      subject.exposures[target],
                                                      answer[t].certified(),
                                                      subject.delta)
                                             .epsilon);
    }
    return row;
}

}  // namespace

View::Kind partial_view_of(const RecordedRun& run) {
    return run.config.secure_sum ? View::Kind::secure_sum : View::Kind::neighbours;
}

ObserverFigures figures_of_partial_views(const RecordedRun& run, const ReportConfig& config) {
    ObserverFigures figures = blank_figures(run, partial_view_of(run), 1);
    if (figures.agents < 2) return figures;
    const auto subject = account_subject_of(run);
    if (subject->process.rounds() > most_partial_rounds)
        throw ConfigError(fmt::format(
            "partial views of {} rounds are too much work for a page (up to {} rounds are shown; "
            "sotto account --run has them)",
            subject->process.rounds(),
            most_partial_rounds));
    ViewOptions options;
    options.threads = config.threads;
    const auto network = make_memory_network(1, config.threads);
    const std::vector<int> there = agents_there(subject->process);
    const auto start = Clock::now();
    const int largest = std::min(largest_shown_coalition(figures.agents, config.coalition_size),
                                 figures.agents - 1);
    const auto observers = coalitions_by_size(figures.agents, 1, std::max(largest, 1));
    const auto block = static_cast<std::size_t>(2 * std::max(config.threads, 1));
    for (std::size_t begin = 0; begin < observers.size(); begin += block) {
        const bool single = observers[begin].size() == 1;
        const double spent = seconds_since(start);
        if (spent > config.partial_seconds * (single ? 1 : 0.1)) break;
        const std::size_t end = std::min(begin + block, observers.size());
        std::vector<Question> questions;
        for (std::size_t i = begin; i < end; ++i)
            questions.push_back(question_of(figures.kind, observers[i], there));
        const Answers answers = answer(*network, *subject, questions, options);
        for (std::size_t i = 0; i < questions.size(); ++i) {
            const std::vector<float> row = epsilons_of(questions[i], answers[i], *subject);
            figures.epsilon.insert(figures.epsilon.end(), row.begin(), row.end());
        }
        figures.observers = static_cast<long>(end);
    }
    if (figures.observers < std::ssize(observers))
        figures.note = fmt::format(
            "partial views of {} of {} observers are in this page, for the time they take "
            "(--partial-seconds {:g}; sotto account --run has the others)",
            figures.observers,
            observers.size(),
            config.partial_seconds);
    return figures;
}

}  // namespace sotto
