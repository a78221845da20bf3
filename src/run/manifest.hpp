#pragma once

#include <string>
#include <vector>

#include "run/peer_notes.hpp"
#include "run/run.hpp"
#include "sotto/trust/key_ring.hpp"

namespace sotto {

/// What this process contributes to the manifest.
[[nodiscard]] ProcessNote process_note(const Network& network, const std::vector<KeyRing>& rings);

/// The text of manifest.json (docs/run-directory.md).
/// @param process_notes JSON of every process's note. @throws NetworkError for what is no note.
[[nodiscard]] std::string manifest_json(const Run& run,
                                        const std::vector<std::string>& process_notes);

}  // namespace sotto
