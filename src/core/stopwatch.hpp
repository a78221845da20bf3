#pragma once

#include <chrono>

namespace sotto {

/// The clock of all durations; setting the time of day does not affect it.
using Clock = std::chrono::steady_clock;

[[nodiscard]] inline double seconds_between(Clock::time_point start, Clock::time_point end) {
    return std::chrono::duration<double>(end - start).count();
}

[[nodiscard]] inline double seconds_since(Clock::time_point start) {
    return seconds_between(start, Clock::now());
}

}  // namespace sotto
