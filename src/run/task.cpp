#include "run/task.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "run/own_task.hpp"
#include "run/peer_notes.hpp"
#include "run/record_task.hpp"
#include "run/tasks/table.hpp"
#include "sotto/core/error.hpp"
#include "sotto/learn/averaging.hpp"
#include "sotto/learn/layers/models.hpp"
#include "sotto/learn/logistic.hpp"
#include "sotto/learn/quadratic.hpp"

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

/// @throws DataError, the same on every process, if models have different numbers of parameters.
void require_same_dimension(Network& network,
                            const std::vector<std::unique_ptr<Objective>>& objectives) {
    Eigen::Index smallest = objectives.front()->dimension(), largest = smallest;
    for (const auto& objective : objectives) {
        smallest = std::min(smallest, objective->dimension());
        largest = std::max(largest, objective->dimension());
    }
    const double least = -network.maximum(-static_cast<double>(smallest));
    const double most = network.maximum(static_cast<double>(largest));
    network.agree([&] {
        if (least != most)
            throw DataError(fmt::format(
                "the agents' models have from {} to {} parameters; they must have equally many",
                least,
                most));
    });
}

}  // namespace

std::vector<std::string> task_names() { return tasks().names(); }

bool has_fixed_inputs(const TaskConfig& config) {
    const TaskRecord* task = tasks().look_up(config.task);
    return task != nullptr && task->fixed_inputs;
}

LocalTask build_task(const TaskConfig& config, Network& network, const Membership& members) {
    TaskRecord record;
    network.agree([&] {
        record =
            is_own_task(config.task) ? own_task(config.task) : tasks().find("task", config.task);
    });
    LocalTask task = record.needs_records() ? build_record_task(config, network, members)
                                            : record.build(config, network, members);
    task.fixed_inputs = record.fixed_inputs;
    task.has_records = task.objectives.front()->record_clipping();
    task.initial = task.objectives.front()->initial_model(config.seed);
    require_same_dimension(network, task.objectives);
    task.records = gather_records(network, task.objectives);
    return task;
}

}  // namespace sotto
