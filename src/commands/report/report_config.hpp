#pragma once

#include <filesystem>
#include <optional>

#include "run/config.hpp"

namespace sotto {

/// What `sotto report` is asked.
struct ReportConfig {
    std::filesystem::path directory;  ///< of the run
    TrainConfig run;                  ///< of its config.ini
    /// Coalitions with every message, up to this size; none: the largest for which there are no
    /// more than most_observers, or fewer where many agents make each of them much work.
    std::optional<int> coalition_size;
    /// At most so long for partial views of single agents; a tenth of it for coalitions.
    double partial_seconds = 100;
    int threads = 1;
};

}  // namespace sotto
