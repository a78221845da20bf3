#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "trust/pair_secrets.hpp"
#include "trust/secret.hpp"

namespace sotto {

/// Which piece of which message: training round, gossip step inside it, chunk of the message, all
/// from 0. Both ends know it, so it is never sent.
struct ChunkAddress {
    std::int64_t round = 0;  ///< in [0, 2^48)
    std::int64_t step = 0;   ///< in [0, 2^16)
    std::int64_t chunk = 0;  ///< in [0, 2^32)
    [[nodiscard]] auto operator<=>(const ChunkAddress&) const = default;
};

/// What a pair's messages are for; each use has keys of its own.
enum class LinkUse {
    exchange,   ///< model messages along an edge: round and gossip step as in training
    collection  ///< agents' vectors to agent 0 and results back: the round counts collections
};

/// Authenticated encryption of the messages between one agent and one other
/// (ChaCha20-Poly1305, IETF: 96-bit nonce, 128-bit tag).
///
/// Each direction of each key epoch has a key of its own, KDF(pair secret, "sottolnk" or
/// "sottocol", 2 epoch + direction) with direction 0 from the lower agent to the higher; the nonce
/// is (round, step, chunk). A message that was changed, belongs to another round, step or chunk,
/// comes from another edge, or is sent back to its sender has the wrong tag and does not open.
/// Where an end is several agents, whose secrets one process holds, the key is KDF(BLAKE2b-256(
/// secrets of pairs between both ends, i-th with i-th, the shorter end over and over)): who has it
/// holds, of every one of these pairs, one agent's secret. Cost: 0.3 ns a byte for either end with
/// OpenSSL, else 1.
class LinkCipher {
  public:
    static constexpr std::size_t tag_size = 16;

    LinkCipher(PairSecrets& secrets, int peer, std::uint32_t key_epoch, LinkUse use);
    /// Between all agents of two processes. @param secrets of those here, ascending, not empty.
    /// @param peers those there, ascending, not empty, all above or all below those here.
    LinkCipher(std::span<PairSecrets> secrets,
               std::span<const int> peers,
               std::uint32_t key_epoch,
               LinkUse use);

    /// Encrypts a piece for the peer. @param message may be the beginning of `sealed`.
    /// @param sealed message.size() + tag_size bytes.
    /// @throws CryptoError unless the address comes after that of the piece sealed before: one
    /// nonce for two messages would reveal both, and the key of the tags.
    void seal(const ChunkAddress& address,
              std::span<const std::uint8_t> message,
              std::span<std::uint8_t> sealed);

    /// Decrypts a piece from the peer. @param message sealed.size() - tag_size bytes; may be the
    /// beginning of `sealed`.
    /// @throws CryptoError naming the edge and the round if it is not what the peer sealed; then
    /// `message` is not to be used.
    void open(const ChunkAddress& address,
              std::span<const std::uint8_t> sealed,
              std::span<std::uint8_t> message) const;

  private:
    /// @param lower whether this is the lower end.
    LinkCipher(const SecretKey& shared, bool lower, std::uint32_t key_epoch, LinkUse use);

    std::string own_, peer_;  // "agent 3", "agents 4 to 7"
    LinkUse use_;
    SecretKey outgoing_;
    SecretKey incoming_;
    ChunkAddress last_sealed_{-1, 0, 0};
};

}  // namespace sotto
