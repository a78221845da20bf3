#include "commands/report/observer_figures.hpp"

#include "run/process_exchanges.hpp"
#include "run/task.hpp"
#include "sotto/views/view_losses.hpp"

namespace sotto {

ObserverFigures blank_figures(const RecordedRun& run, View::Kind kind, int smallest) {
    ObserverFigures figures;
    figures.kind = kind;
    figures.agents = run.built.topography.graph.agents();
    figures.smallest = smallest;
    MessageProcess process;
    process.plan = &run.history.phases.back().plan;
    set_exchanges(process, run.config.plan);
    figures.argument =
        argument_of({kind, {}},
                    has_fixed_inputs(run.config.task),
                    counts_all_messages(process, run.config.plan.participation, {kind, {}}));
    return figures;
}

}  // namespace sotto
