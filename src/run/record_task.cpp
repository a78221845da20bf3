#include "run/record_task.hpp"

#include <fmt/format.h>

#include "run/tasks/table.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/names.hpp"

namespace sotto {

void require_options_fit(const TaskConfig& config) {
    if (config.hidden && !tasks().find("task", config.task).has_option("hidden"))
        throw ConfigError(fmt::format(
            "hidden: {} is given, but task '{}' has no hidden layer (allowed: {})",
            *config.hidden,
            config.task,
            join(task_names_where([](const TaskRecord& task) { return task.has_option("hidden"); }),
                 ", ")));
}

Eigen::Index outputs_of(const TaskConfig& config, const LocalData& data) {
    if (data.target == Target::value) return 1;
    if (data.classes < 2)
        throw DataError(fmt::format("{}: all records are of one class", config.data));
    return data.classes;
}

std::unique_ptr<Objective> make_record_objective(const TaskConfig& config,
                                                 const LocalData& data,
                                                 Dataset shard,
                                                 std::shared_ptr<const Dataset> test) {
    const TaskRecord& task = tasks().find("task", config.task);
    require_options_fit(config);
    if (data.target == Target::value && !task.takes_values)
        throw ConfigError(
            fmt::format("task: '{}' needs classes; {} has a number to predict (allowed: {})",
                        config.task,
                        config.data,
                        join(task_names_where(&TaskRecord::takes_values), ", ")));
    return task.objective(config, data, std::move(shard), std::move(test));
}

LocalTask build_record_task(const TaskConfig& config, Network& network, const Membership& members) {
    LocalData data = read_local_data(config, network, members);
    LocalTask task;
    task.description = data.description;
    task.statements = data.statements;
    task.digests = data.digests;
    network.agree([&] {
        for (auto& agent : data.agents)
            task.objectives.push_back(
                make_record_objective(config, data, std::move(agent.shard), agent.test));
    });
    return task;
}

}  // namespace sotto
