#pragma once

#include <Eigen/Dense>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sotto/core/hash.hpp"
#include "trust/identity.hpp"
#include "trust/key_ring.hpp"

namespace sotto {

/// A commitment to an agent's data: reveals nothing about them without the key, with which the
/// agent can verify later that they are the same.
struct DataCommitment {
    Digest key{};    ///< random, of this agent and run
    Digest value{};  ///< BLAKE2b-256(key, digest of the data)
};

/// What one agent saves to resume; no secret it shares with others. Seeds of its noise have their
/// own file (saved_seeds_bytes). Past noise of a temporal factor is made again from the seeds and
/// the rounds since `phase_round`.
struct Checkpoint {
    Digest run{};                  ///< run id of the run's first session
    int agent = 0;                 ///< number in the run
    long round = 0;                ///< completed
    long phase_round = 0;          ///< first round of the phase, in which its temporal factor
                                   ///< begins
    std::uint32_t key_epoch = 0;   ///< of the phase
    std::uint64_t batch_seed = 0;  ///< with agent and round, determines the batches
    std::int64_t records = 0;      ///< of the agent: another number would change its batches
    /// Commitment to its data. Its key also keeps the checkpoint's digest, which others get, from
    /// revealing the content.
    DataCommitment data{};
    Eigen::VectorXd model;     ///< after mixing; empty in round 0, where options determine it
    Eigen::VectorXd velocity;  ///< with momentum; else empty
    Eigen::VectorXd mean;      ///< of its models so far; empty if none
    /// With a SharedPreconditioner, x at its last renewal and v; else empty.
    Eigen::VectorXd anchor{}, moments{};
    /// With a Correction, psi (exact diffusion) or y (tracking), and with tracking u of the last
    /// round; else empty.
    Eigen::VectorXd carried{}, direction{};
    std::string revealed;  ///< text of the agent's record of what it has revealed (own record)
    /// The options that the agent itself chooses, by name.
    std::map<std::string, std::string> own_options;
};

/// BLAKE2b-256 of all fields. Cost O(dimension).
[[nodiscard]] Digest digest_of(const Checkpoint& checkpoint);

struct StoredCheckpoint {
    Checkpoint checkpoint;
    Digest digest{};  ///< at the end of its bytes
};

/// A checkpoint as it is written: "sottockp", version (32 bits), the fields in order, and their
/// BLAKE2b-256. Large vectors are not copied: the checkpoint must outlive this.
class CheckpointBytes {
  public:
    explicit CheckpointBytes(const Checkpoint& checkpoint);
    CheckpointBytes(const CheckpointBytes&) = delete;
    CheckpointBytes& operator=(const CheckpointBytes&) = delete;
    [[nodiscard]] const std::vector<std::string_view>& parts() const { return parts_; }
    [[nodiscard]] std::string text() const;
    [[nodiscard]] const Digest& digest() const { return digest_; }  ///< at the end

  private:
    std::deque<std::string> own_;
    std::vector<std::string_view> parts_;
    Digest digest_{};
};
/// Accepts exactly those bytes.
/// @throws DataError naming the source for damaged or truncated bytes or another version.
[[nodiscard]] StoredCheckpoint checkpoint_from_bytes(std::string_view bytes,
                                                     const std::string& source);

/// A copy of an agent's checkpoint that others keep in case the agent's disk is lost, with a limit
/// of the rounds that may have been sent since, which replaces the agent's own mark.
struct CheckpointCopy {
    std::string checkpoint;  ///< its bytes
    std::string revealed;    ///< text of the agent's own record at the time of the copy
    int phase = 0;           ///< of the run, at the time of the copy
    /// In this phase, no round from this one on is sent before the next copy is made.
    long until = 0;
};

/// XChaCha20-Poly1305 under a key from the identity's secret: nobody else can read or make it.
/// Length: checkpoint and record, plus less than 100 bytes.
[[nodiscard]] std::string seal_copy(const Identity& identity,
                                    int agent,
                                    const CheckpointCopy& copy);
/// @throws CryptoError naming the agent unless this identity sealed it for this agent.
[[nodiscard]] CheckpointCopy open_copy(const Identity& identity,
                                       int agent,
                                       std::string_view sealed);

/// Seals the agent's seeds for this place in the run: XChaCha20-Poly1305 under a key from the
/// identity's secret. Bound to the whole checkpoint and the plan: with another round, epoch or
/// model they do not open.
[[nodiscard]] std::string seal_seeds_for(const Identity& identity,
                                         const KeyRing& ring,
                                         const Checkpoint& checkpoint,
                                         const Digest& plan);
/// @param place of the agent that gets the ring.
/// @throws CryptoError naming the agent if sealed for another identity, place or plan.
[[nodiscard]] KeyRing open_seeds_of(const Identity& identity,
                                    std::string_view sealed,
                                    const Checkpoint& checkpoint,
                                    const Digest& plan,
                                    int place);

/// As they are written, in a file beside the checkpoint, so that seeds can be erased alone:
/// "sottosds", version (32 bits), the sealed seeds.
[[nodiscard]] std::string saved_seeds_bytes(std::string_view sealed);
/// The sealed seeds; opening verifies them. @param source for messages.
/// @throws DataError naming the source for bytes of another kind or version.
[[nodiscard]] std::string sealed_seeds_from(std::string bytes, const std::string& source);

}  // namespace sotto
