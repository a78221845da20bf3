#include "run/task.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "run/own_task.hpp"
#include "run/peer_notes.hpp"
#include "run/record_task.hpp"
#include "run/tasks/table.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/host.hpp"
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
    constexpr std::uint64_t longest_number = 24;
    std::vector<Eigen::Index> own;
    for (const auto& objective : objectives) own.push_back(objective->records());
    const auto gathered = network.all_gather(records_to_text(own),
                                             longest_number * network.most_agents_of_a_process());
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

/// A model of each agent, its gradient, its noise and what it hears, and a few more of the process.
/// @throws DataError where that does not fit into the memory that is free.
void require_room(const std::vector<std::unique_ptr<Objective>>& objectives,
                  const std::string& name) {
    const auto agents = static_cast<double>(objectives.size());
    const auto parameters = static_cast<double>(objectives.front()->dimension());
    const double needed = sizeof(double) * parameters * 4 * (agents + 1);
    const auto available = static_cast<double>(available_memory_bytes());
    if (needed > available)
        throw DataError(fmt::format(
            "task: models of '{}' have {:.0f} parameters on these data; {} agents of one "
            "process need {:.1f} GiB for them, {:.1f} are free (fewer features or "
            "classes, or fewer agents a host)",
            name,
            parameters,
            agents,
            needed / 0x1p30,
            available / 0x1p30));
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
    network.agree([&] { require_room(task.objectives, config.task); });
    task.initial = task.objectives.front()->initial_model(config.seed);
    require_same_dimension(network, task.objectives);
    task.records = gather_records(network, task.objectives);
    return task;
}

}  // namespace sotto
