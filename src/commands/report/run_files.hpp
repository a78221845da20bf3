#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

namespace sotto {

/// What a file of a run says, for the page.
struct RunFile {
    nlohmann::ordered_json content;
    std::string problem;  ///< why there is nothing to read; empty: it was read
};

/// A JSON file as it is; null where there is none to read.
[[nodiscard]] RunFile json_of_run(const std::filesystem::path& file);

/// metrics.csv by columns; what was not measured is null. {} where there is nothing to read.
[[nodiscard]] RunFile metrics_of_run(const std::filesystem::path& file);

/// Options of a run by groups, [{title, options: [[name, value], ...]}, ...], without the noise
/// seed. @param ini as sotto writes it: "# Title" before the options of a group.
[[nodiscard]] nlohmann::ordered_json options_of(const std::string& ini);

/// A manifest without keys and commitments, which nobody reads in a page; null as it is.
[[nodiscard]] nlohmann::ordered_json without_keys(nlohmann::ordered_json manifest);

}  // namespace sotto
