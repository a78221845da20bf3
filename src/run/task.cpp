#include "run/task.hpp"

#include <fmt/format.h>

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

/// One number of every agent, in their order. COLLECTIVE.
/// @throws NetworkError, the same on every process, naming a process that sent something else.
std::vector<Eigen::Index> gather_numbers(Network& network, const std::vector<Eigen::Index>& own) {
    const auto gathered = network.all_gather(records_to_text(own));
    const auto agents = static_cast<std::size_t>(network.agents());
    std::vector<Eigen::Index> numbers;
    network.agree([&] {
        for (std::size_t p = 0; p < gathered.size(); ++p) {
            const auto of_process = records_from_text(gathered[p], p);
            const bool one_each = gathered.size() == agents;
            if (of_process.empty() || (one_each && of_process.size() != 1))
                throw NetworkError(
                    fmt::format("rank {} gives numbers of records of {} agents; it is one agent",
                                p,
                                of_process.size()));
            numbers.insert(numbers.end(), of_process.begin(), of_process.end());
        }
        if (numbers.size() != agents)
            throw NetworkError(fmt::format(
                "numbers of records of {} agents arrived, there are {}", numbers.size(), agents));
    });
    return numbers;
}

std::vector<Eigen::Index> records_of(const std::vector<std::unique_ptr<Objective>>& objectives) {
    std::vector<Eigen::Index> records;
    for (const auto& objective : objectives) records.push_back(objective->records());
    return records;
}

/// @throws DataError, the same on every process, if models have different numbers of parameters.
void require_same_dimension(Network& network,
                            const std::vector<std::unique_ptr<Objective>>& objectives) {
    std::vector<Eigen::Index> own;
    for (const auto& objective : objectives) own.push_back(objective->dimension());
    const auto dimensions = gather_numbers(network, own);
    network.agree([&] {
        for (std::size_t agent = 1; agent < dimensions.size(); ++agent)
            if (dimensions[agent] != dimensions[0])
                throw DataError(fmt::format(
                    "the model of agent {} has {} parameters, that of agent 0 has {}; all must "
                    "have equally many",
                    agent,
                    dimensions[agent],
                    dimensions[0]));
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
    task.records = gather_numbers(network, records_of(task.objectives));
    return task;
}

}  // namespace sotto
