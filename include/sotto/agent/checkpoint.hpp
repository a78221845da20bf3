#pragma once

#include <Eigen/Dense>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "sotto/core/hash.hpp"

namespace sotto {

/// An agent's word on the data it trains on, that shows nothing of them to who has not the key: the
/// agent alone can say later whether they are the same.
struct DataCommitment {
    Digest key{};    ///< random, of this agent and run
    Digest value{};  ///< BLAKE2b-256(key, digest of the data)
};

/// What one agent keeps to go on later: where it is, and nothing it shares with nobody. The seeds
/// of its noise have a file of their own (saved_seeds.hpp). Past noise of a temporal factor is not
/// kept: it is made again from the seeds and the rounds since `phase_round`.
struct Checkpoint {
    Digest run{};                  ///< run id of the run's first session
    int agent = 0;                 ///< number
    long round = 0;                ///< completed
    long phase_round = 0;          ///< first round of the phase: where its temporal factor begins
    std::uint32_t key_epoch = 0;   ///< of the phase
    std::uint64_t batch_seed = 0;  ///< batches are a function of it, agent and round
    std::int64_t records = 0;      ///< of the agent: with other data its batches would differ
    /// To its data. The key also keeps the digest of a checkpoint, which others get, from telling
    /// anything about what is in it.
    DataCommitment data{};
    Eigen::VectorXd model;     ///< after mixing; of round 0 empty: it follows from the options
    Eigen::VectorXd velocity;  ///< with momentum; else empty
    Eigen::VectorXd mean;      ///< of its models so far; empty where there is none (yet)
    std::string revealed;      ///< text of the agent's own record of what it has revealed
    /// The options that only the agent itself decides on, by name, as they were.
    std::map<std::string, std::string> own_options;
};

/// BLAKE2b-256 of all fields. Cost O(dimension).
[[nodiscard]] Digest digest_of(const Checkpoint& checkpoint);

struct StoredCheckpoint {
    Checkpoint checkpoint;
    Digest digest{};  ///< at the end of its bytes
};

/// "sottockp", version (32 bits), the fields in order, and a BLAKE2b-256 of all before it.
[[nodiscard]] std::string to_bytes(const Checkpoint& checkpoint);
/// @throws DataError naming the source for bytes that are damaged, cut short or of another version:
/// only what to_bytes gives is taken.
[[nodiscard]] StoredCheckpoint checkpoint_from_bytes(std::string_view bytes,
                                                     const std::string& source);

/// Those bytes as a file of mode 0600, replaced in one step and flushed to disk. @return the digest
/// at its end. @throws ConfigError if it cannot be written.
Digest write_checkpoint(const std::filesystem::path& path, const Checkpoint& checkpoint);
/// @throws DataError naming the file; also for one that is missing.
[[nodiscard]] StoredCheckpoint read_checkpoint(const std::filesystem::path& path);

}  // namespace sotto
