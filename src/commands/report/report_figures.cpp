#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>

#include "commands/report/report_job.hpp"
#include "run/sent_rounds.hpp"
#include "run/task.hpp"
#include "run/view_answers.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/linear_algebra.hpp"
#include "sotto/core/parallel.hpp"
#include "sotto/net/memory_network.hpp"
#include "sotto/privacy/coalitions.hpp"
#include "sotto/views/view_losses.hpp"

namespace sotto {

namespace {

using Clock = std::chrono::steady_clock;

/// Partial views of longer runs take minutes and gigabytes each: matrices rounds x rounds.
constexpr long most_partial_rounds = 5000;
/// Observers times agents^3: about half a minute on two cores; ten minutes for single agents.
constexpr double most_work = 2e10, most_work_for_agents = 3e11;
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

/// Coalitions of `smallest` to `largest` agents, by size, then lexicographic.
std::vector<std::vector<int>> observers_of(int agents, int smallest, int largest) {
    std::vector<std::vector<int>> all;
    for (int size = smallest; size <= largest; ++size)
        for_each_coalition(
            agents, size, [&](const std::vector<int>& members) { all.push_back(members); });
    return all;
}

int largest_size(const RecordedRun& run, const ReportConfig& config) {
    const int agents = run.built.topography.graph.agents();
    if (config.coalition_size) {
        const int size = *config.coalition_size;
        if (size < 0 || size >= agents)
            throw ConfigError(
                fmt::format("--coalition-size: {} is not allowed (0 to {}, one less than there are "
                            "agents)",
                            size,
                            agents - 1));
        return size;
    }
    const double one = std::pow(agents, 3);
    double count = 1;
    for (int size = 1; size < agents; ++size) {
        count += count_coalitions(agents, size);
        if (count > most_observers || count * one > (size == 1 ? most_work_for_agents : most_work))
            return size - 1;
    }
    return std::max(agents - 1, 0);
}

/// Observers with every message: the sums of the ledger, for each of them.
class AllMessages {
  public:
    explicit AllMessages(const RecordedRun& run) : agents_(run.history.phases.front().members.all) {
        const auto& phases = run.history.phases;
        delta_ = stated_delta(phases.back().plan.distribution(), run.config.plan.delta);
        for (std::size_t k = 0; k < phases.size(); ++k) {
            const PrivacyPhase& phase = phases[k];
            const long rounds = rounds_sent(phases, k, run.rounds);
            if (rounds <= 0) continue;
            phases_.push_back(&phase);
            squared_.push_back(pattern_sensitivity_squared(phase.plan, phase.use, rounds));
        }
    }
    [[nodiscard]] bool was_there(int agent) const {
        return std::ranges::any_of(
            phases_, [&](const PrivacyPhase* phase) { return phase->members.place(agent) >= 0; });
    }
    void against(const std::vector<int>& members, float* epsilon) const {
        PrivacyLosses losses(agents_);
        // A member that has left sees all messages still, and knows nobody's noise any more.
        for (std::size_t k = 0; k < phases_.size(); ++k)
            losses.add(*phases_[k],
                       squared_[k],
                       observed_precision(phases_[k]->plan, {phases_[k]->members.places(members)}));
        for (int u = 0; u < agents_; ++u)
            epsilon[u] = std::ranges::binary_search(members, u) || !was_there(u)
                             ? not_a_number
                             : static_cast<float>(losses.guarantee(u, delta_).epsilon);
    }

  private:
    int agents_;
    double delta_ = 0;
    std::vector<const PrivacyPhase*> phases_;
    std::vector<Eigen::MatrixXd> squared_;
};

ObserverFigures start_figures(const RecordedRun& run, View::Kind kind, int smallest) {
    ObserverFigures figures;
    figures.kind = kind;
    figures.agents = run.built.topography.graph.agents();
    figures.smallest = smallest;
    figures.argument = argument_of({kind, {}},
                                   has_fixed_inputs(run.config.task),
                                   run.history.phases.back().plan.distribution());
    return figures;
}

/// What agents receive of their neighbours.
View::Kind partial_view(const RecordedRun& run) {
    return run.config.secure_sum ? View::Kind::secure_sum : View::Kind::neighbours;
}

ObserverFigures figures_of_all_messages(const RecordedRun& run, const ReportConfig& config) {
    ObserverFigures figures = start_figures(run, View::Kind::all_messages, 0);
    const int largest = largest_size(run, config);
    const auto observers = observers_of(figures.agents, 0, largest);
    figures.epsilon.resize(observers.size() * static_cast<std::size_t>(figures.agents));
    const AllMessages all(run);
    set_linear_algebra_threads(1);
    parallel_for(std::ssize(observers), config.threads, [&](long i) {
        const auto at = static_cast<std::size_t>(i);
        all.against(observers[at],
                    figures.epsilon.data() + at * static_cast<std::size_t>(figures.agents));
    });
    set_linear_algebra_threads(config.threads);
    figures.observers = std::ssize(observers);
    if (largest == 0 && figures.agents > 1)
        figures.note = "only the eavesdropper is in this page, for the time it takes";
    else if (largest + 1 < figures.agents)
        figures.note = fmt::format(
            "coalitions of up to {} agent{} are in this page", largest, largest == 1 ? "" : "s");
    return figures;
}

ObserverFigures figures_of_partial_views(const RecordedRun& run,
                                         const ReportConfig& config,
                                         const AllMessages& all) {
    ObserverFigures figures = start_figures(run, partial_view(run), 1);
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
    std::vector<int> everybody(static_cast<std::size_t>(figures.agents));
    std::iota(everybody.begin(), everybody.end(), 0);
    std::erase_if(everybody, [&](int agent) { return !all.was_there(agent); });
    const auto start = Clock::now();
    const int largest = std::min(largest_size(run, config), figures.agents - 1);
    const auto observers = observers_of(figures.agents, 1, std::max(largest, 1));
    const std::size_t block = static_cast<std::size_t>(2 * std::max(config.threads, 1));
    for (std::size_t begin = 0; begin < observers.size();) {
        const bool single = observers[begin].size() == 1;
        const double spent = std::chrono::duration<double>(Clock::now() - start).count();
        if (spent > config.partial_seconds * (single ? 1 : 0.1)) break;
        std::vector<Question> questions;
        const std::size_t end = std::min(begin + block, observers.size());
        for (std::size_t i = begin; i < end; ++i) {
            Question& question = questions.emplace_back();
            question.view.kind = figures.kind;
            for (const int member : observers[i])
                if (all.was_there(member)) question.view.members.push_back(member);
            if (!question.view.members.empty())
                question.targets = without(everybody, question.view.members);
        }
        const Answers answers = answer(*network, *subject, questions, options);
        for (std::size_t i = 0; i < questions.size(); ++i) {
            std::vector<float> row(static_cast<std::size_t>(figures.agents), not_a_number);
            for (std::size_t t = 0; t < questions[i].targets.size(); ++t) {
                const auto target = static_cast<std::size_t>(questions[i].targets[t]);
                const double loss =
                    subject->exposures[target].sensitivity * std::sqrt(answers[i][t].certified());
                row[target] =
                    static_cast<float>(guarantee_of(subject->plan, loss, subject->delta).epsilon);
            }
            figures.epsilon.insert(figures.epsilon.end(), row.begin(), row.end());
        }
        begin = end;
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

}  // namespace

std::vector<ObserverFigures> report_figures(const RecordedRun& run, const ReportConfig& config) {
    std::vector<ObserverFigures> result;
    const auto add = [&](View::Kind kind, int smallest, auto&& figures) {
        try {
            result.push_back(figures());
        } catch (const Error& error) {
            if (kind == View::Kind::all_messages && config.coalition_size) throw;
            ObserverFigures& none = result.emplace_back(start_figures(run, kind, smallest));
            none.note = fmt::format("no figures of this view: {}", error.what());
        }
    };
    add(View::Kind::all_messages, 0, [&] { return figures_of_all_messages(run, config); });
    add(partial_view(run), 1, [&] {
        return figures_of_partial_views(run, config, AllMessages(run));
    });
    return result;
}

}  // namespace sotto
