#include "tasks/kinds/averaging.hpp"

#include <fmt/format.h>

#include "sotto/learn/averaging.hpp"
#include "tasks/task_values.hpp"

namespace sotto {

namespace {

constexpr double l2_of_averages = 1;

LocalTask build_averaging(const TaskConfig& config, Network& network, const Membership& members) {
    LocalValues data = read_local_values(config, network, members);
    LocalTask task;
    network.agree([&] {
        for (auto& shard : data.shards)
            task.objectives.push_back(make_averaging_objective(std::move(shard), data.mean));
    });
    task.description = data.description;
    task.digests = data.digests;
    task.l2 = l2_of_averages;
    task.statements.emplace_back(
        "Gossip averaging: an agent's inputs are its own clipped values, fixed in advance and "
        "whatever messages say. So figures of partial views are exact, not only those of views of "
        "all messages. The network comes to the mean of the clipped inputs.");
    return task;
}

}  // namespace

TaskRecord averaging_task() {
    return {.name = "averaging",
            .summary = "running averages of points: the network estimates their mean",
            .build = build_averaging,
            .fixed_inputs = true,
            .options = {"data", "test-data", "partition"},
            .defaults = {{"step-size", "1"},
                         {"step-schedule", "inverse"},
                         {"l2", fmt::format("{}", l2_of_averages)},
                         {"clip-norm", "1"},
                         {"batch-size", "all"},
                         {"partition", "iid"}}};
}

}  // namespace sotto
