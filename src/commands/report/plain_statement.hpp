#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "config/config.hpp"

namespace sotto {

/// What a run's files say, as far as the plain statement is made of it.
struct StatedRun {
    nlohmann::ordered_json ledger;
    nlohmann::ordered_json manifest;  ///< null where there is none
    TrainConfig config;
    std::string program;  ///< that writes the statement
};

/// The run for people who decide whether it may take place, ethics boards among them: who takes
/// part, what is protected, against whom, epsilon in words, what is not protected, assumptions, the
/// command and versions. HTML of a section's content, with links to the glossary.
[[nodiscard]] std::string plain_statement(const StatedRun& run);

/// The command that starts the run again, without the value of a noise seed: options that differ
/// from their defaults.
[[nodiscard]] std::string command_of(const TrainConfig& config);

}  // namespace sotto
