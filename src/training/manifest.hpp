#pragma once

#include <string>
#include <vector>

#include "config/peer_notes.hpp"
#include "sotto/trust/key_ring.hpp"
#include "training/run.hpp"

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

/// What agents say about how they find gradients: each statement once, with whose it is where not
/// all say it; then what earlier starts stated and nobody says now.
/// @param said by the agent of every process; empty: nothing.  @param earlier texts of manifests.
/// @throws DataError for what is no manifest.
[[nodiscard]] std::vector<std::string> gradient_statements(const std::vector<std::string>& said,
                                                           const Membership& members,
                                                           const std::vector<std::string>& earlier);

/// The text of a manifest with these statements as `gradients`.
[[nodiscard]] std::string with_gradients(const std::string& manifest,
                                         const std::vector<std::string>& statements);

}  // namespace sotto
