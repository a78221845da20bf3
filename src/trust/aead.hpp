#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "trust/link_cipher.hpp"

namespace sotto {

inline constexpr std::size_t aead_key_bytes = 32, aead_nonce_bytes = 12, aead_tag_bytes = 16;

using AeadKey = std::span<const std::uint8_t, aead_key_bytes>;
using AeadNonce = std::span<const std::uint8_t, aead_nonce_bytes>;

/// ChaCha20-Poly1305 (RFC 8439) without additional data: sealed = ciphertext, tag. By OpenSSL for
/// long messages where this build has it, else by libsodium: the same bytes. OpenSSL's copy of the
/// key is overwritten at the end.
/// @param message  may be the beginning of `sealed`.
/// @param sealed   message.size() + aead_tag_bytes bytes.
void aead_seal(AeadKey key,
               AeadNonce nonce,
               std::span<const std::uint8_t> message,
               std::span<std::uint8_t> sealed);

/// False if it is not what was sealed with this key and nonce; `message` then holds nothing of use.
/// @param message  sealed.size() - aead_tag_bytes bytes; may be the beginning of `sealed`.
[[nodiscard]] bool aead_open(AeadKey key,
                             AeadNonce nonce,
                             std::span<const std::uint8_t> sealed,
                             std::span<std::uint8_t> message);

// Nonces that both ends compute.

/// 96 bits, little-endian: round (48), gossip step (16), chunk (32). Different addresses give
/// different nonces. @throws CryptoError for a part that does not fit.
[[nodiscard]] std::array<std::uint8_t, 12> nonce_of(const ChunkAddress& address);

}  // namespace sotto
