#include "sotto/experiment/task.hpp"

#include <fmt/format.h>

#include "peer_notes.hpp"
#include "sotto/core/names.hpp"
#include "task_data.hpp"

namespace sotto {

namespace {

/// Numbers of records of all agents. COLLECTIVE.
/// @throws NetworkError, the same on every process, if a process sent something else.
std::vector<Eigen::Index> gather_records(
    Network& network, const std::vector<std::unique_ptr<Objective>>& objectives) {
    std::vector<Eigen::Index> own;
    for (const auto& objective : objectives) own.push_back(objective->records());
    const auto gathered = network.all_gather(records_to_text(own));
    std::vector<Eigen::Index> records;
    network.agree([&] {
        for (std::size_t p = 0; p < gathered.size(); ++p) {
            const auto of_process = records_from_text(gathered[p], p);
            records.insert(records.end(), of_process.begin(), of_process.end());
        }
        if (records.size() != static_cast<std::size_t>(network.agents()))
            throw NetworkError(fmt::format("numbers of records of {} agents arrived, there are {}",
                                           records.size(),
                                           network.agents()));
    });
    return records;
}

}  // namespace

std::vector<std::string> task_names() { return {"quadratic", "logistic"}; }

LocalTask build_task(const TaskConfig& config, Network& network) {
    LocalTask task;
    network.agree([&] {
        const auto names = task_names();
        if (std::find(names.begin(), names.end(), config.task) == names.end())
            throw unknown_name_error("task", config.task, names);
    });
    if (config.task == "quadratic") {
        for (const int agent : network.local_agents())
            task.objectives.push_back(make_quadratic_objective(agent, network.agents()));
        task.description = "one quadratic function an agent";
        task.has_records = false;
    } else {
        LocalData local = read_local_data(config, network);
        task.description = local.description;
        task.statements = local.statements;
        network.agree([&] {
            if (local.target == Target::value)
                throw ConfigError(
                    fmt::format("task: '{}' needs classes; {} has a number to predict",
                                config.task,
                                config.data));
            for (auto& agent : local.agents)
                task.objectives.push_back(
                    make_logistic_objective(std::move(agent.shard), agent.test));
        });
    }
    task.initial = Eigen::VectorXd::Zero(task.objectives.front()->dimension());
    task.records = gather_records(network, task.objectives);
    return task;
}

}  // namespace sotto
