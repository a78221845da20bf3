#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "sotto/core/hash.hpp"
#include "trust/secret.hpp"

namespace sotto {

using PublicKey = std::array<std::uint8_t, 32>;  ///< X25519

/// The secrets one agent shares with each other agent of a run, from key agreement between the
/// run's ephemeral X25519 keys. Nothing is sent, and nobody else, rank 0 included, can compute
/// them.
///
///     secret(u, v) = BLAKE2b-256(key = X25519(own secret, peer's public key); transcript, min,
///     max)
///
/// Subkeys are separated by context and id (crypto_kdf): link keys, sum masks and pair noise never
/// share one. Cost: one X25519 (about 40 us) at the first use of a peer.
class PairSecrets {
  public:
    /// @param transcript of the handshake: another run, graph or plan gives other secrets.
    /// @param public_keys one per agent of the network; those of one process share the list.
    PairSecrets(int agent,
                const Digest& transcript,
                SecretKey own_secret,
                std::shared_ptr<const std::vector<PublicKey>> public_keys);

    [[nodiscard]] int agent() const { return agent_; }
    [[nodiscard]] int agents() const { return static_cast<int>(public_keys_->size()); }
    /// Computed once, kept in guarded memory. Not thread-safe.
    /// @throws CryptoError for an unusable public key, the agent itself, or no such agent.
    [[nodiscard]] const SecretKey& with(int peer);

  private:
    int agent_;
    Digest transcript_;
    SecretKey own_secret_;
    std::shared_ptr<const std::vector<PublicKey>> public_keys_;
    std::map<int, SecretKey> secrets_;
};

}  // namespace sotto
