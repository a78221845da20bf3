#include "options/task_defaults.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <string>

#include "config/agent_path.hpp"
#include "tasks/kinds/table.hpp"

namespace sotto {

OptionTexts with_task_defaults(OptionTexts given) {
    const auto named = given.find("task");
    const TaskRecord* task =
        tasks().look_up(named != given.end() ? named->second : TaskConfig{}.task);
    if (task != nullptr)
        for (const auto& [option, text] : task->defaults) given.try_emplace(option, text);
    return given;
}

OptionTexts with_agents_of_files(OptionTexts given) {
    const auto data = given.find("data");
    // What rank 0 says of a run that is taken up makes nobody look for files.
    for (const char* says_it : {"agents", "graph", "resume"})
        if (given.contains(says_it)) return given;
    if (data == given.end()) return given;
    if (is_pattern(data->second) && !std::filesystem::is_regular_file(data->second))
        given["agents"] = std::to_string(matching_files(data->second).size());
    return given;
}

std::string task_defaults_text() {
    std::string text;
    for (const TaskRecord& task : tasks().records()) {
        if (task.defaults.empty()) continue;
        text += text.empty() ? "" : "; ";
        text += task.name + " has other defaults: ";
        for (std::size_t i = 0; i < task.defaults.size(); ++i)
            text += fmt::format(
                "{}{} {}", i == 0 ? "" : ", ", task.defaults[i].option, task.defaults[i].text);
    }
    return text;
}

}  // namespace sotto
