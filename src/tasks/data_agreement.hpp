#pragma once

// Whether all processes have read the same records; not installed.

#include <vector>

#include "sotto/net/network.hpp"
#include "sotto/trust/pair_secrets.hpp"
#include "tasks/data_digests.hpp"

namespace sotto {

/// Files without %r are the same on every host, and everybody deals them alike: otherwise a record
/// could be in two shards, and nobody would see it. Each process shows process 0 that its digests
/// are process 0's by tags under the secret that its first agent shares with agent 0, made for this
/// session:
///
///     tag(i) = BLAKE2b-256(key = KDF(pair secret, "sottodat", i); option, digest i)
///
/// so that who listens learns nothing of them, and of files that differ nobody but process 0 can
/// test guesses. Files of an agent's own (%r) are no part of it. COLLECTIVE.
/// @param secrets of the local agents.
/// @throws DataError, the same on every process, naming file, ranks and hosts that differ from rank
/// 0; NetworkError for bytes that are none of this.
void require_same_data(Network& network,
                       std::vector<PairSecrets>& secrets,
                       const DataDigests& digests);

}  // namespace sotto
