#pragma once

#include <Eigen/Dense>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "sotto/core/hash.hpp"
#include "trust/identity.hpp"
#include "trust/key_ring.hpp"

namespace sotto {

/// An agent's word on the data it trains on, that shows nothing of them to who has not the key: the
/// agent alone can say later whether they are the same.
struct DataCommitment {
    Digest key{};    ///< random, of this agent and run
    Digest value{};  ///< BLAKE2b-256(key, digest of the data)
};

/// What one agent keeps to go on later: where it is, and nothing it shares with nobody. The seeds
/// of its noise have a file of their own (checkpoint.hpp). Past noise of a temporal factor is not
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

/// An agent's checkpoint as somebody else keeps it, in case the agent's disk is lost, and what may
/// have been sent by then: without the agent's own mark of sent rounds nobody else knows.
struct CheckpointCopy {
    std::string checkpoint;  ///< the file's bytes
    std::string revealed;    ///< text of the agent's own record when the copy was made
    int phase = 0;           ///< of the run, in which the copy was made
    /// Nothing of this round and later ones is sent in the phase before another copy is made.
    long until = 0;
};

/// XChaCha20-Poly1305 under a key that derives from the identity's secret: nobody else can read or
/// make it. Length: the file's, the record's, and less than 100 bytes.
[[nodiscard]] std::string seal_copy(const Identity& identity,
                                    int agent,
                                    const CheckpointCopy& copy);
/// @throws CryptoError naming the agent if it was not sealed by this identity for this agent, or
/// was changed.
[[nodiscard]] CheckpointCopy open_copy(const Identity& identity,
                                       int agent,
                                       std::string_view sealed);

/// The agent's seeds for this place in the run: XChaCha20-Poly1305 under a key that derives from
/// the identity's secret, so that nobody else can read or make them. Bound to everything in the
/// checkpoint and to the plan: with another round, epoch or model they do not open.
[[nodiscard]] std::string seal_seeds_for(const Identity& identity,
                                         const KeyRing& ring,
                                         const Checkpoint& checkpoint,
                                         const Digest& plan);
/// @param place of the agent, which the ring is for.
/// @throws CryptoError naming the agent if they were sealed for another identity, place or plan.
[[nodiscard]] KeyRing open_seeds_of(const Identity& identity,
                                    std::string_view sealed,
                                    const Checkpoint& checkpoint,
                                    const Digest& plan,
                                    int place);

/// File beside a checkpoint, which can be erased and the checkpoint stays whole: "sottosds",
/// version (32 bits), the sealed seeds; mode 0600. Replaced in one step and flushed to disk.
/// @throws ConfigError if it cannot be written.
void write_saved_seeds(const std::filesystem::path& path, std::string_view sealed);
/// The sealed seeds. @throws DataError naming the file for one that is missing, or of another kind
/// or version; what was changed in them, opening them finds.
[[nodiscard]] std::string read_saved_seeds(const std::filesystem::path& path);

}  // namespace sotto
