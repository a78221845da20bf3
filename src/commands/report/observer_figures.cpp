#include "commands/report/observer_figures.hpp"

#include <fmt/format.h>

#include <atomic>
#include <optional>

#include "planning/configured_gossip.hpp"
#include "sotto/core/parallel.hpp"
#include "sotto/views/view_losses.hpp"
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
    // The page finds observers by their place: there must be none that is missing before another.
    for (const auto& known : rows) {
        if (!known) break;
        figures.epsilon.insert(figures.epsilon.end(), known->begin(), known->end());
        ++figures.observers;
    }
}

std::string out_of_time_note(const ObserverFigures& figures, long observers, double time_limit) {
    return fmt::format(
        "{} of {} observers are in this page, for the time they take (--time-limit {:g}; a longer "
        "one has more, sotto account --run has any)",
        figures.observers,
        observers,
        time_limit);
}

}  // namespace sotto
