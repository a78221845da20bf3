#include "tasks/kinds/quadratic.hpp"

#include "sotto/learn/quadratic.hpp"

namespace sotto {

namespace {

LocalTask build_quadratic(const TaskConfig&, Network& network, const Membership& members) {
    LocalTask task;
    for (const int agent : network.local_agents())
        task.objectives.push_back(make_quadratic_objective(members.number(agent), members.all));
    task.description = "one quadratic function an agent";
    return task;
}

}  // namespace

TaskRecord quadratic_task() {
    return {.name = "quadratic",
            .summary = "one quadratic function of two numbers an agent; no data",
            .build = build_quadratic};
}

}  // namespace sotto
