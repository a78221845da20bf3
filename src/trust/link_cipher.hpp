#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "trust/aead.hpp"
#include "trust/pair_secrets.hpp"
#include "trust/secret.hpp"

namespace sotto {

/// The training round, the gossip step of the round and the chunk of the message, all from 0. Both
/// ends know it, so it is never sent.
struct ChunkAddress {
    std::int64_t round = 0;  ///< in [0, 2^48)
    std::int64_t step = 0;   ///< in [0, 2^16)
    std::int64_t chunk = 0;  ///< in [0, 2^32)
    [[nodiscard]] auto operator<=>(const ChunkAddress&) const = default;
};

/// Both ends compute it. 96 bits, little-endian: round (48), gossip step (16), chunk (32).
/// @throws CryptoError for a part that does not fit.
[[nodiscard]] std::array<std::uint8_t, aead_nonce_bytes> nonce_of(const ChunkAddress& address);

/// Each use has its own keys.
enum class LinkUse {
    exchange,   ///< model messages along an edge: round and gossip step of training
    collection  ///< agents' vectors to agent 0 and the results; the round counts collections
};

/// Authenticated encryption of the messages between one agent and another (Aead: 96-bit nonce,
/// 128-bit tag).
///
/// Each direction, key epoch and cipher has its own key, KDF(pair secret, "sottolnk" or "sottocol",
/// 2 epoch + direction), with AES-256-GCM of context "sottolka" or "sottocoa"; direction 0 is from
/// the lower agent to the higher. The nonce is (round, step, chunk). A message that was changed,
/// replayed in another round, step, chunk or edge, or reflected to its sender does not open.
///
/// Where an end is several agents of one process, the pair secret is replaced by BLAKE2b-256 of the
/// secrets of pairs between both ends (the i-th with the i-th, the shorter end repeated); to
/// compute it one must hold, for every one of these pairs, the secret of one of its agents.
class LinkCipher {
  public:
    static constexpr std::size_t tag_size = aead_tag_bytes;

    /// @throws CryptoError for a cipher that this processor lacks.
    LinkCipher(
        PairSecrets& secrets, int peer, std::uint32_t key_epoch, LinkUse use, AeadCipher cipher);
    /// Between all agents of two processes. @param secrets of the local agents, ascending, not
    /// empty.
    /// @param peers ascending, not empty, all above or all below the local agents.
    LinkCipher(std::span<PairSecrets> secrets,
               std::span<const int> peers,
               std::uint32_t key_epoch,
               LinkUse use,
               AeadCipher cipher);

    /// @param message may be the beginning of `sealed`.
    /// @param sealed message.size() + tag_size bytes.
    /// @throws CryptoError unless the address comes after that of the last sealed piece: using one
    /// nonce for two messages would reveal both messages and the key of the tags.
    void seal(const ChunkAddress& address,
              std::span<const std::uint8_t> message,
              std::span<std::uint8_t> sealed);

    /// @param message sealed.size() - tag_size bytes; may be the beginning of `sealed`.
    /// @throws CryptoError naming the edge and the round if the peer did not seal it; `message`
    /// must not be used then.
    void open(const ChunkAddress& address,
              std::span<const std::uint8_t> sealed,
              std::span<std::uint8_t> message) const;

  private:
    /// @param lower whether this is the lower end.
    LinkCipher(const SecretKey& shared,
               bool lower,
               std::uint32_t key_epoch,
               LinkUse use,
               AeadCipher cipher);

    std::string own_, peer_;  // "agent 3", "agents 4 to 7"
    LinkUse use_;
    Aead outgoing_;
    Aead incoming_;
    ChunkAddress last_sealed_{-1, 0, 0};
};

}  // namespace sotto
