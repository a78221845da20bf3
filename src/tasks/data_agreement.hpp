#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "agent/checkpoint.hpp"
#include "net/network.hpp"
#include "sotto/core/hash.hpp"
#include "sotto/learn/dataset.hpp"
#include "trust/pair_secrets.hpp"

namespace sotto {

// What a training's records are, for those who must find the same again.

/// A file as it was read.
struct FileDigest {
    std::string option;  ///< that names it: "data", "test-data", or "task" for a model
    std::string path;
    std::int64_t records = 0;  ///< 0 of a model
    Digest digest{};           ///< digest_of_records; of a model's bytes
};

/// Where the records of the agents of this process come from. Nothing for what follows from options
/// alone, and for tasks that read their data themselves.
struct DataDigests {
    std::vector<FileDigest> shared;  ///< files that every process reads, in their order
    /// Of the rows that every agent of the run was dealt, where all processes read the same.
    std::optional<Digest> partition;
    /// One list a local agent, of the files that it alone reads (%r); empty without such files.
    std::vector<std::vector<FileDigest>> own;
};

/// BLAKE2b-256 of who has which rows. Cost O(rows).
[[nodiscard]] Digest digest_of_partition(const std::vector<std::vector<Eigen::Index>>& shards);

/// Of all that the records of one agent of this process are made from: digests of its own files,
/// of the shared ones, and of the partition. Paths are not part of it.
/// @param local_index of the agent.
[[nodiscard]] Digest digest_of_agent(const DataDigests& digests, std::size_t local_index);

/// A commitment with a key of its own from the operating system.
[[nodiscard]] DataCommitment commit_to_data(const Digest& of_agent);
/// BLAKE2b-256(key, digest of the agent).
[[nodiscard]] Digest committed(const Digest& key, const Digest& of_agent);

/// data.json: what opens the commitment of an agent (docs/run-directory.md). Its owner's alone.
[[nodiscard]] std::string data_json(const DataDigests& digests,
                                    std::size_t local_index,
                                    const DataCommitment& commitment);

// Whether all processes have read the same records.

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
