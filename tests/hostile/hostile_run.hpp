#pragma once

#include <filesystem>

#include "config/config.hpp"

namespace sotto::test {

/// A short training of three agents in this process, with checkpoints, recordings of agent 0 and
/// the wire, and a copy of agent 0's last checkpoint, own.checkpoint. Made once.
[[nodiscard]] const std::filesystem::path& hostile_run();
[[nodiscard]] TrainConfig hostile_run_config();

}  // namespace sotto::test
