#pragma once

#include <filesystem>
#include <optional>

#include "config/config.hpp"

namespace sotto {

/// What `sotto report` is asked.
struct ReportConfig {
    std::filesystem::path directory;  ///< of the run
    TrainConfig run;                  ///< of its config.ini
    /// Coalitions with every message, up to this size; none: the largest for which there are no
    /// more than most_observers, or fewer where many agents make each of them much work.
    std::optional<int> coalition_size;
    /// Seconds after which no observer is looked at any more: half of it for what single agents
    /// learn from their neighbours, a quarter for coalitions of them, all of it for every message.
    double time_limit = 20;
    int threads = 1;
};

}  // namespace sotto
