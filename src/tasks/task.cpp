#include "tasks/task.hpp"

#include <fmt/format.h>

#include <utility>

#include "config/peer_notes.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/host.hpp"
#include "sotto/learn/averaging.hpp"
#include "sotto/learn/layers/models.hpp"
#include "sotto/learn/logistic.hpp"
#include "sotto/learn/quadratic.hpp"
#include "tasks/kinds/table.hpp"
#include "tasks/named_task.hpp"
#include "tasks/record_task.hpp"

namespace sotto {

namespace {

/// One number of every agent, in their order. COLLECTIVE.
/// @throws NetworkError, the same on every process, naming a process that sent something else.
std::vector<Eigen::Index> gather_numbers(Network& network, const std::vector<Eigen::Index>& own) {
    constexpr std::uint64_t longest_number = 24;
    const auto gathered = network.all_gather(records_to_text(own),
                                             longest_number * network.most_agents_of_a_process());
    std::vector<Eigen::Index> numbers;
    network.agree([&] {
        for (std::size_t p = 0; p < gathered.size(); ++p) {
            const auto of_process = records_from_text(gathered[p], p);
            const int hosted = network.blocks().size(static_cast<int>(p));
            if (std::ssize(of_process) != hosted)
                throw NetworkError(
                    fmt::format("rank {} gives numbers of records of {} agents; it hosts {}",
                                p,
                                of_process.size(),
                                hosted));
            numbers.insert(numbers.end(), of_process.begin(), of_process.end());
        }
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

void require_room(Eigen::Index parameters, std::size_t agents, const std::string& what) {
    // A model of each agent, its gradient, its noise and what it hears, and a few more of the
    // process.
    const double needed =
        sizeof(double) * static_cast<double>(parameters) * 4 * (static_cast<double>(agents) + 1);
    const auto available = static_cast<double>(available_memory_bytes());
    if (needed > available)
        throw DataError(
            fmt::format("{}; {} agent{} of one process need {:.1f} GiB for models of that size, "
                        "{:.1f} are free "
                        "(fewer features, classes or parameters, or fewer agents a host)",
                        what,
                        agents,
                        agents == 1 ? "" : "s",
                        needed / 0x1p30,
                        available / 0x1p30));
}

std::vector<std::string> task_names() { return tasks().names(); }

bool has_fixed_inputs(const TaskConfig& config) {
    const TaskRecord* task = tasks().look_up(config.task);
    return task != nullptr && task->fixed_inputs;
}

LocalTask build_task(const TaskConfig& config, Network& network, const Membership& members) {
    TaskRecord record;
    network.agree([&] {
        record = named_task(config.task);
        require_options_fit(config);
    });
    LocalTask task = record.needs_records() ? build_record_task(config, network, members)
                                            : record.build(config, network, members);
    task.fixed_inputs = record.fixed_inputs;
    return settled_task(std::move(task), config, network);
}

LocalTask settled_task(LocalTask task, const TaskConfig& config, Network& network) {
    task.has_records = task.objectives.front()->record_clipping();
    network.agree([&] {
        const Eigen::Index parameters = task.objectives.front()->dimension();
        require_room(
            parameters,
            task.objectives.size(),
            fmt::format(
                "task: models of '{}' have {} parameters on these data", config.task, parameters));
    });
    if (task.initial.size() == 0)
        task.initial = task.objectives.front()->initial_model(config.seed);
    require_same_dimension(network, task.objectives);
    task.records = gather_numbers(network, records_of(task.objectives));
    return task;
}

}  // namespace sotto
