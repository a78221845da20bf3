#include "tasks/own_task.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>

#include "sotto/core/error.hpp"
#include "sotto/learn/own_task.hpp"

namespace sotto {

bool is_own_task(const std::string& task) {
    return task.find('/') != std::string::npos || task.ends_with(".so");
}

OwnTask::OwnTask(const std::string& path) : path_(path) {
    // A name without a folder would be looked for among the system's libraries.
    const std::string place = path.find('/') == std::string::npos ? "./" + path : path;
    std::error_code missing;
    if (std::filesystem::exists(place, missing) &&
        !std::filesystem::is_regular_file(place, missing))
        throw ConfigError(fmt::format(
            "task: {} is not a shared library that can be loaded (it is no file)", path));
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

LocalTask build_own(const TaskConfig& config, Network& network, const Membership& members) {
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
