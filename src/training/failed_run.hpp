#pragma once

#include <exception>

#include "training/open_run.hpp"

namespace sotto {

/// What a process does that failed in the rounds: keeps the ledger true, leaves failure.txt, and,
/// where there are other processes, says why and ends them all (Network::abort). Alone, it throws
/// the failure again: call it from the handler that caught it. Does not return. LOCAL.
void end_failed_run(const OpenRun& run, const std::exception& failure);

}  // namespace sotto
