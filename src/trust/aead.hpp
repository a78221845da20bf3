#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "trust/link_cipher.hpp"

namespace sotto {

inline constexpr std::size_t aead_key_bytes = 32, aead_nonce_bytes = 12, aead_tag_bytes = 16;

using AeadKey = std::span<const std::uint8_t, aead_key_bytes>;
using AeadNonce = std::span<const std::uint8_t, aead_nonce_bytes>;

/// ChaCha20-Poly1305 (RFC 8439) without additional data: sealed = ciphertext, tag. OpenSSL seals
/// long messages where the build has it, libsodium the others; the bytes are the same.
/// @param message  may be the beginning of `sealed`.
/// @param sealed   message.size() + aead_tag_bytes bytes.
void aead_seal(AeadKey key,
               AeadNonce nonce,
               std::span<const std::uint8_t> message,
               std::span<std::uint8_t> sealed);

/// False unless it was sealed with this key and nonce; `message` must not be used then.
/// @param message  sealed.size() - aead_tag_bytes bytes; may be the beginning of `sealed`.
[[nodiscard]] bool aead_open(AeadKey key,
                             AeadNonce nonce,
                             std::span<const std::uint8_t> sealed,
                             std::span<std::uint8_t> message);

/// Both ends compute it. 96 bits, little-endian: round (48), gossip step (16), chunk (32).
/// @throws CryptoError for a part that does not fit.
[[nodiscard]] std::array<std::uint8_t, 12> nonce_of(const ChunkAddress& address);

}  // namespace sotto
