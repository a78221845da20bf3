#pragma once

// What a training's records are, for those who must find the same again; not installed.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sotto/agent/checkpoint.hpp"
#include "sotto/core/hash.hpp"
#include "sotto/learn/dataset.hpp"

namespace sotto {

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

}  // namespace sotto
