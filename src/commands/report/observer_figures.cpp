#include "commands/report/observer_figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <optional>

#include "core/parallel.hpp"
#include "planning/configured_gossip.hpp"
#include "privacy/protection.hpp"
#include "sotto/core/error.hpp"
#include "sotto/views/view_losses.hpp"
#include "sotto/views/view_record.hpp"
#include "tasks/task.hpp"

namespace sotto {

ObserverFigures blank_figures(const RecordedRun& run, View::Kind kind, int smallest) {
    ObserverFigures figures;
    figures.kind = kind;
    figures.agents = run.built.topography.graph.agents();
    figures.smallest = smallest;
    figures.argument = argument_of(
        {kind, {}}, has_fixed_inputs(run.config.task), accounted_by_all_messages(run, kind));
    return figures;
}

bool accounted_by_all_messages(const RecordedRun& run, View::Kind kind) {
    MessageProcess process;
    process.plan = &run.history.phases.back().plan;
    process.momentum = run.config.plan.momentum;
    process.final_gossip = final_gossip_steps(run.config.plan, run.built.topography.schedule());
    return counts_all_messages(process, run.config.plan.participation, {kind, {}});
}

void add_observers(ObserverFigures& figures,
                   const std::vector<std::vector<int>>& observers,
                   Clock::time_point until,
                   int threads,
                   const std::function<std::vector<float>(const std::vector<int>&)>& row) {
    std::vector<std::optional<std::vector<float>>> rows(observers.size());
    std::atomic<bool> over = false;
    parallel_for(std::ssize(observers), threads, [&](long i) {
        const bool first = i == 0 && figures.observers == 0;
        if (!first && (over || Clock::now() >= until)) {
            over = true;
            return;
        }
        rows[static_cast<std::size_t>(i)] = row(observers[static_cast<std::size_t>(i)]);
    });
    // The page finds observers by their position, so none may be missing before another.
    for (const auto& known : rows) {
        if (!known) break;
        figures.epsilon.insert(figures.epsilon.end(), known->begin(), known->end());
        ++figures.observers;
    }
}

std::string out_of_time_note(const ObserverFigures& figures, long observers, double time_limit) {
    return fmt::format(
        "{} of {} observers are in this page, because of the time they take (--time-limit {:g}; a "
        "longer limit includes more, and sotto account --run computes any)",
        figures.observers,
        observers,
        time_limit);
}

namespace {

ObserverWords words_of(View::Kind kind) {
    ObserverWords words;
    if (kind == View::Kind::all_messages) {
        words.gist = "every message";
        words.nobody = "Whoever records every message";
        words.one = "One curious agent with every message";
        words.several = "colluding agents with every message";
        words.one_knows = ", with every message of the run and its seeds,";
        words.several_know = ", with every message of the run and their seeds,";
        return words;
    }
    const std::string from =
        kind == View::Kind::secure_sum ? ", from sums of what " : ", from what ";
    words.gist = "what neighbours send to them";
    words.one = "One agent, what neighbours send to it";
    words.several = "colluding agents, what neighbours send to them";
    words.one_knows = from + "its neighbours send and its seeds,";
    words.several_know = from + "their neighbours send and their seeds,";
    return words;
}

}  // namespace

ObserverWords observer_words(View::Kind kind, const Graph& graph) {
    ObserverWords words = words_of(kind);
    const std::array records{record_of({kind, {}}, graph),
                             record_of({kind, {0}}, graph),
                             record_of({kind, {0, 1}}, graph)};
    for (std::size_t i = 0; i < records.size(); ++i)
        if (records[i] != nullptr) words.names[i] = records[i]->name;
    words.sees = (records.front() != nullptr ? records.front() : records.back())->help;
    return words;
}

namespace {

/// Limits for observers times agents^3, the work if all agents share seeds with each other: about
/// half a minute on two cores for coalitions, minutes for single agents.
constexpr double most_work_for_coalitions = 2e10, most_work_for_agents = 3e12;

}  // namespace

int largest_shown_coalition(int agents, const std::optional<int>& asked) {
    if (asked) {
        if (*asked < 0 || *asked >= agents)
            throw ConfigError(
                fmt::format("--coalition-size: {} is not allowed (0 to {}, one less than there are "
                            "agents)",
                            *asked,
                            agents - 1));
        return *asked;
    }
    const double one = std::pow(agents, 3);
    double count = 1;
    for (int size = 1; size < agents; ++size) {
        count += count_coalitions(agents, size);
        if (count > most_observers ||
            count * one > (size == 1 ? most_work_for_agents : most_work_for_coalitions))
            return size - 1;
    }
    return std::max(agents - 1, 0);
}

std::vector<std::vector<int>> coalitions_by_size(int agents, int smallest, int largest) {
    std::vector<std::vector<int>> all;
    for (int size = smallest; size <= largest; ++size)
        for_each_coalition(
            agents, size, [&](const std::vector<int>& members) { all.push_back(members); });
    return all;
}

}  // namespace sotto
