#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "agent/checkpoint.hpp"
#include "net/control.hpp"
#include "sotto/core/hash.hpp"
#include "sotto/learn/dataset.hpp"
#include "trust/pair_secrets.hpp"

namespace sotto {

struct FileDigest {
    std::string option;  ///< "data", "test-data", or "task" for a model
    std::string path;
    std::int64_t records = 0;  ///< 0 for a model
    Digest digest{};           ///< digest_of_records, or of a model's bytes
};

/// The sources of the local agents' records. Empty for generated data, and for tasks that read
/// their own data.
struct DataDigests {
    std::vector<FileDigest> shared;  ///< files that every process reads, in order
    /// Of the rows dealt to all agents, if all processes read the same files.
    std::optional<Digest> partition;
    /// Per local agent, the files that it alone reads (%r); empty without such files.
    std::vector<std::vector<FileDigest>> own;
};

/// BLAKE2b-256 of every agent's rows. Cost O(rows).
[[nodiscard]] Digest digest_of_partition(const std::vector<std::vector<Eigen::Index>>& shards);

/// Of the sources of one local agent's records: its own files, the shared ones and the partition,
/// without paths.
[[nodiscard]] Digest digest_of_agent(const DataDigests& digests, std::size_t local_index);

/// Uses a new random key.
[[nodiscard]] DataCommitment commit_to_data(const Digest& of_agent);
/// BLAKE2b-256(key, digest of the agent).
[[nodiscard]] Digest committed(const Digest& key, const Digest& of_agent);

/// data.json: opens the agent's commitment (docs/run-directory.md). For its owner only.
[[nodiscard]] std::string data_json(const DataDigests& digests,
                                    std::size_t local_index,
                                    const DataCommitment& commitment);

/// Checks that files without %r are the same everywhere: every process deals them, and with
/// different files a record could be in two shards unnoticed. Each process proves to process 0 that
/// it has the same digests, by tags under the secret that its first agent shares with agent 0 in
/// this session:
///
///     tag(i) = BLAKE2b-256(key = KDF(pair secret, "sottodat", i); option, digest i)
///
/// Eavesdroppers learn nothing of the digests, and only process 0 can test guesses about different
/// files. Files of an agent's own (%r) are excluded. COLLECTIVE.
/// @param secrets of the local agents.
/// @throws DataError, the same on every process, naming file, ranks and hosts that differ from rank
/// 0; NetworkError for malformed bytes.
void require_same_data(Control& network,
                       std::vector<PairSecrets>& secrets,
                       const DataDigests& digests);

}  // namespace sotto
