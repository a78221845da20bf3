#include "options/run_of_directory.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "options/general_options.hpp"
#include "options/train_options.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/files.hpp"

namespace sotto {

ConfigText config_of_run(std::string_view option, const std::string& directory) {
    const std::string file = (std::filesystem::path(directory) / "config.ini").string();
    if (!std::filesystem::exists(file))
        throw ConfigError(
            fmt::format("{}: {} holds no run (there is no config.ini)", option, directory));
    return {read_file(file, largest_config_bytes), file};
}

void require_kept_options(const ConfigText& of_run) {
    const std::vector<WrittenGroup> groups = with_general(train_option_set().written());
    for (const auto& [name, text] : parse_options(groups, {}, of_run))
        if (!find_option(groups, name)->reproduces_run)
            throw ConfigError(fmt::format(
                "{}: '{}' is nothing that a run keeps; give --{} on the command line of every rank",
                of_run.source,
                name,
                name));
}

TrainConfig train_config_of(const ConfigText& config) {
    return read_train_config(parse_options(with_general(train_option_set().written()), {}, config));
}

}  // namespace sotto
