#pragma once

// How a process ends because of a failure; not installed.

#include "sotto/core/error.hpp"

namespace sotto {

/// Exit code for a process that ends because of a failure: never 0, which would look like success.
[[nodiscard]] int failure_status(ExitCode code);

/// Writes out what all streams hold: what ends a process without returning would lose it.
void flush_output();

}  // namespace sotto
