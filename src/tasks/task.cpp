#include "tasks/task.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "config/peer_notes.hpp"
#include "core/host.hpp"
#include "learn/layers.hpp"
#include "learn/logistic.hpp"
#include "learn/quadratic.hpp"
#include "sotto/core/error.hpp"
#include "sotto/learn/objective.hpp"
#include "tasks/record_task.hpp"
#include "tasks/task_table.hpp"

namespace sotto {

namespace {

/// One number per agent, in order. COLLECTIVE.
/// @throws NetworkError, the same on every process, naming a process that sent something else.
std::vector<Eigen::Index> gather_numbers(Control& network, const std::vector<Eigen::Index>& own) {
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
void require_same_dimension(Control& network,
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
    // Per agent a model, its gradient, noise and received messages; the same once for the process.
    const double needed =
        sizeof(double) * static_cast<double>(parameters) * 4 * (static_cast<double>(agents) + 1);
    const auto available = static_cast<double>(available_memory_bytes());
    if (needed > available)
        throw DataError(fmt::format(
            "{}; {} agent{} of one process need {:.1f} GiB for models of that size, and {:.1f} are "
            "free (use fewer features, classes or parameters, or fewer agents per host)",
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

LocalTask build_task(const TaskConfig& config, Control& network, const Membership& members) {
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

LocalTask settled_task(LocalTask task, const TaskConfig& config, Control& network) {
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

TaskRecord named_task(const std::string& name) {
    if (is_own_task(name)) return own_task(name);
    return tasks().find("task", name);
}

bool is_own_task(const std::string& task) {
    return task.find('/') != std::string::npos || task.ends_with(".so");
}

OwnTask::OwnTask(const std::string& path) : path_(path) {
    // A name without a folder would be searched among the system's libraries.
    const std::string place = path.find('/') == std::string::npos ? "./" + path : path;
    std::error_code missing;
    if (std::filesystem::exists(place, missing) &&
        !std::filesystem::is_regular_file(place, missing))
        throw ConfigError(fmt::format(
            "task: {} is not a shared library that can be loaded (it is not a file)", path));
    void* library = ::dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        const char* reason = ::dlerror();
        throw ConfigError(fmt::format("task: {} is not a shared library that can be loaded ({})",
                                      path,
                                      reason != nullptr ? reason : "no reason given"));
    }
    const auto* version = static_cast<const int*>(::dlsym(library, "sotto_own_task_version"));
    factory_ = ::dlsym(library, "sotto_own_task");
    if (version == nullptr || factory_ == nullptr)
        throw ConfigError(fmt::format(
            "task: {} has no '{}'; a task of your own is made with SOTTO_OWN_TASK (docs/tasks.md)",
            path,
            version == nullptr ? "sotto_own_task_version" : "sotto_own_task"));
    if (*version != own_task_version)
        throw ConfigError(fmt::format(
            "task: {} is made for version {} of tasks, this sotto has version {}; compile it again",
            path,
            *version,
            own_task_version));
}

std::unique_ptr<Objective> OwnTask::make(const TaskConfig& config, int agent, int agents) const {
    using Factory = Objective* (*)(const OwnTaskOptions*);
    const OwnTaskOptions options{agent,
                                 agents,
                                 config.data.c_str(),
                                 config.test_data ? config.test_data->c_str() : nullptr,
                                 config.test_fraction,
                                 config.seed};
    std::unique_ptr<Objective> objective(reinterpret_cast<Factory>(factory_)(&options));
    if (objective == nullptr || objective->dimension() < 1 || objective->records() < 1)
        throw ConfigError(fmt::format(
            "task: {} gave agent {} {}",
            path_,
            agent,
            objective == nullptr ? "no objective" : "an objective without parameters or records"));
    return objective;
}

namespace {

LocalTask build_own(const TaskConfig& config, Control& network, const Membership& members) {
    LocalTask task;
    network.agree([&] {
        const OwnTask own(config.task);
        for (const int agent : network.local_agents())
            task.objectives.push_back(own.make(config, members.number(agent), members.all));
    });
    task.own_tests = true;
    task.description = fmt::format("{} of {}", config.data, config.task);
    task.statements.push_back(
        fmt::format("Records are read, dealt and, with a record adjacency, clipped by {}, a "
                    "library of the user's: "
                    "the guarantee takes its word that one record changes one agent's sum by no "
                    "more than the clip.",
                    config.task));
    return task;
}

}  // namespace

TaskRecord own_task(const std::string& path) {
    return {.name = path,
            .summary = "a library of the user's",
            .build = build_own,
            .options = {"data", "test-data", "test-fraction"}};
}

}  // namespace sotto
