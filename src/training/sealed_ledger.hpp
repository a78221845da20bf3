#pragma once

#include "training/open_run.hpp"

namespace sotto {

/// Writes ledger.json, and its digest into the manifest and every agent's copy of it. Every agent
/// first checks that the ledger of process 0 states for it no less than it counts itself. A crash
/// on the way leaves the old ledger or the new one, and digests of both. COLLECTIVE.
/// @param rounds completed.
/// @throws NetworkError, the same on every process, naming the agent whom the ledger states less
/// for.
void seal_ledger(const OpenRun& run, Ledger::Status status, long rounds);

/// On process 0, without the others, who may be gone: a ledger whose digest is that of the running
/// one, which counts all planned rounds.
void write_open_ledger(const OpenRun& run, Ledger::Status status, long rounds);

}  // namespace sotto
