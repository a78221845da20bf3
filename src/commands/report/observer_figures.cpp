#include "commands/report/observer_figures.hpp"

#include "run/task.hpp"

namespace sotto {

ObserverFigures blank_figures(const RecordedRun& run, View::Kind kind, int smallest) {
    ObserverFigures figures;
    figures.kind = kind;
    figures.agents = run.built.topography.graph.agents();
    figures.smallest = smallest;
    figures.argument = argument_of({kind, {}},
                                   has_fixed_inputs(run.config.task),
                                   run.history.phases.back().plan.distribution());
    return figures;
}

}  // namespace sotto
