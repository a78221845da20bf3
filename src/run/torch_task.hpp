#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "run/tasks/task_record.hpp"

namespace sotto {

/// Whether a task's name means a TorchScript module: it ends with ".pt".
[[nodiscard]] bool is_torch_task(const std::string& task);

/// Where the plugin sotto_torch.so may stand beside a program: in its folder (a build), and in the
/// folder for plugins of its installation.
[[nodiscard]] std::vector<std::filesystem::path> torch_plugin_places(
    const std::filesystem::path& program);

/// The task that a TorchScript module is: parameters of the file are the initial model, records are
/// read and dealt as for tasks of the table. The file and the plugin are loaded when the record's
/// file or an objective is asked for, once.
/// What they throw: ConfigError where the file or the plugin is missing or cannot be used, with the
/// remedy.
[[nodiscard]] TaskRecord torch_task(const std::string& path);

}  // namespace sotto
