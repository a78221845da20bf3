#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "config/config.hpp"

namespace sotto {

/// What the plain statement is made from.
struct StatedRun {
    nlohmann::ordered_json ledger;
    nlohmann::ordered_json manifest;  ///< null if there is none
    TrainConfig config;
    std::string program;  ///< the version that writes the statement
};

/// A description of the run for people who decide whether it may take place, such as ethics boards:
/// who takes part, what is protected, against whom, epsilon in words, what is not protected,
/// assumptions, the command and versions. HTML content of a section, with links to the glossary.
[[nodiscard]] std::string plain_statement(const StatedRun& run);

/// The command that repeats the run, with the options that differ from their defaults. The value of
/// a noise seed is left out.
[[nodiscard]] std::string command_of(const TrainConfig& config);

}  // namespace sotto
