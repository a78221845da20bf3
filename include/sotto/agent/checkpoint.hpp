#pragma once

#include <Eigen/Dense>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "sotto/core/hash.hpp"
#include "sotto/trust/identity.hpp"
#include "sotto/trust/key_ring.hpp"

namespace sotto {

/// What one agent keeps to go on later: where it is, and nothing it shares with nobody but the
/// seeds of its noise, which only its identity can open. Past noise of a temporal factor is not
/// kept: it is made again from the seeds and the rounds since `phase_round`.
struct Checkpoint {
    Digest run{};                  ///< run id of the run's first session
    int agent = 0;                 ///< number
    long round = 0;                ///< completed
    long phase_round = 0;          ///< first round of the phase: where its temporal factor begins
    std::uint32_t key_epoch = 0;   ///< of the phase
    std::uint64_t batch_seed = 0;  ///< batches are a function of it, agent and round
    std::int64_t records = 0;      ///< of the agent: with other data its batches would differ
    Eigen::VectorXd model;         ///< after mixing
    Eigen::VectorXd spent;         ///< PrivacyLoss::amount of the agent so far, by pattern
    /// The options that only the agent itself decides on, by name, as they were; none: of an older
    /// sotto (version 1), which kept none.
    std::optional<std::map<std::string, std::string>> own_options;
    std::string seeds;  ///< of its noise, sealed; empty: not kept
};

/// File: "sottockp", version (32 bits), the fields in order, and a BLAKE2b-256 of all before it.
/// Replaced in one step and flushed to disk. @return the digest at its end.
/// @throws ConfigError if it cannot be written.
Digest write_checkpoint(const std::filesystem::path& path, const Checkpoint& checkpoint);

struct StoredCheckpoint {
    Checkpoint checkpoint;
    Digest digest{};
};
/// @throws DataError naming the file for one that is missing, damaged, cut short or of another
/// version: nothing half-written is taken for whole.
[[nodiscard]] StoredCheckpoint read_checkpoint(const std::filesystem::path& path);

/// The agent's seeds for this place in the run: XChaCha20-Poly1305 under a key that derives from
/// the identity's secret, so that nobody else can read or make them. Bound to everything else in
/// the checkpoint and to the plan: with another round, epoch or model they do not open.
[[nodiscard]] std::string seal_seeds_for(const Identity& identity,
                                         const KeyRing& ring,
                                         const Checkpoint& checkpoint,
                                         const Digest& plan);
/// @param place of the agent, which the ring is for.
/// @throws CryptoError naming the agent if they were sealed for another identity, place or plan.
[[nodiscard]] KeyRing open_seeds_of(const Identity& identity,
                                    const Checkpoint& checkpoint,
                                    const Digest& plan,
                                    int place);

}  // namespace sotto
