#include <fmt/format.h>

#include <filesystem>

#include "commands/cli/command.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/files.hpp"

namespace sotto::cli {

ConfigText config_of_run(std::string_view option, const std::string& directory) {
    const std::string file = (std::filesystem::path(directory) / "config.ini").string();
    if (!std::filesystem::exists(file))
        throw ConfigError(
            fmt::format("{}: {} holds no run (there is no config.ini)", option, directory));
    return {read_file(file), file};
}

TrainConfig train_config_of_run(std::string_view option, const std::string& directory) {
    const ParsedOptions parsed(
        command_named("train").options(), {}, config_of_run(option, directory));
    return read_train_config(parsed);
}

}  // namespace sotto::cli
