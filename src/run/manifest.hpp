#pragma once

#include <string>
#include <vector>

#include "run/peer_notes.hpp"
#include "run/run.hpp"
#include "sotto/trust/key_ring.hpp"

namespace sotto {

/// What this process contributes to the manifest.
[[nodiscard]] ProcessNote process_note(const Network& network, const std::vector<KeyRing>& rings);

/// A sentence for ledger and report on the ranks whose secret keys may be written to swap; empty
/// where there are none. @throws NetworkError for what is no note.
[[nodiscard]] std::string statement_on_unlocked_keys(const std::vector<std::string>& process_notes);

/// The text of manifest.json (docs/run-directory.md), but for the digest of the ledger
/// (ledger_digest.hpp).
/// @param process_notes JSON of every process's note. @throws NetworkError for what is no note.
[[nodiscard]] std::string manifest_json(const Run& run,
                                        const std::vector<std::string>& process_notes);

}  // namespace sotto
