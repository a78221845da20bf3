#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "sotto/agent/checkpoint.hpp"
#include "sotto/core/hash.hpp"
#include "sotto/trust/identity.hpp"
#include "sotto/trust/key_ring.hpp"

namespace sotto {

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
