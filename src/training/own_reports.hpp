#pragma once

#include <string>

#include "sotto/agent/trainer.hpp"
#include "store/run_directory.hpp"

namespace sotto {

/// One agent's report as a JSON object.
[[nodiscard]] std::string to_json(const AgentReport& report);

/// agents/<agent>/report.json of every agent of this process, which only its owner can read.
/// Written whatever it says, by the agent's own process, and sent to nobody. LOCAL.
void write_own_reports(const RunDirectory& directory, const Trainer& trainer);

/// What a process that hosts all agents says of those whose report is not empty; "" if all are.
/// @param trainer of all agents.
[[nodiscard]] std::string own_reports_text(const Trainer& trainer);

}  // namespace sotto
