#include "run/record_task.hpp"

#include <fmt/format.h>

#include "run/named_task.hpp"
#include "run/tasks/table.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/names.hpp"

namespace sotto {

namespace {

std::unique_ptr<Objective> objective_of(const TaskRecord& task,
                                        const TaskConfig& config,
                                        const LocalData& data,
                                        Dataset shard,
                                        std::shared_ptr<const Dataset> test) {
    require_options_fit(config);
    if (data.target == Target::value && !task.takes_values)
        throw ConfigError(
            fmt::format("task: '{}' needs classes; {} has a number to predict (allowed: {})",
                        config.task,
                        config.data,
                        join(task_names_where(&TaskRecord::takes_values), ", ")));
    return task.objective(config, data, std::move(shard), std::move(test));
}

}  // namespace

void require_options_fit(const TaskConfig& config) {
    if (config.hidden && !named_task(config.task).has_option("hidden"))
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
    const TaskRecord task = named_task(config.task);
    if (!task.needs_records())
        throw ConfigError(fmt::format(
            "task: '{}' has no records that are read and dealt for it (allowed: {}, or FILE.pt)",
            config.task,
            join(task_names_where(&TaskRecord::needs_records), ", ")));
    return objective_of(task, config, data, std::move(shard), std::move(test));
}

LocalTask build_record_task(const TaskConfig& config, Network& network, const Membership& members) {
    LocalData data = read_local_data(config, network, members);
    LocalTask task;
    task.description = data.description;
    task.statements = data.statements;
    task.digests = data.digests;
    network.agree([&] {
        const TaskRecord record = named_task(config.task);
        if (record.file) {
            const TaskFile file = record.file();
            task.digests.shared.push_back(file.digest);
            task.statements.push_back(file.statement);
        }
        for (auto& agent : data.agents)
            task.objectives.push_back(
                objective_of(record, config, data, std::move(agent.shard), agent.test));
    });
    return task;
}

}  // namespace sotto
