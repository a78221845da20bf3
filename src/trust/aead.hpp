#pragma once

#include <cstdint>
#include <span>

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

}  // namespace sotto
