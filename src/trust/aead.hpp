#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "trust/secret.hpp"

namespace sotto {

inline constexpr std::size_t aead_nonce_bytes = 12, aead_tag_bytes = 16;
using AeadNonce = std::span<const std::uint8_t, aead_nonce_bytes>;

enum class AeadCipher {
    chacha20_poly1305,  ///< RFC 8439: on every processor
    aes256_gcm          ///< NIST SP 800-38D: a third of the time, where the processor computes AES
};

/// "ChaCha20-Poly1305", "AES-256-GCM".
[[nodiscard]] const char* name_of(AeadCipher cipher);

/// Whether this processor has the instructions for AES-256-GCM. Without them AES would be slow and
/// would leak by timing; Aead refuses it then.
[[nodiscard]] bool has_aes256_gcm();

/// Authenticated encryption under one key, without additional data: sealed = ciphertext, tag.
/// OpenSSL seals long messages where the build has it, libsodium the others; the bytes are the
/// same. The key, and what AES makes of it, stay in libsodium's guarded memory, and in OpenSSL's
/// only during a call.
class Aead {
  public:
    /// @throws CryptoError for aes256_gcm without has_aes256_gcm().
    Aead(SecretKey key, AeadCipher cipher);

    /// @param message  may be the beginning of `sealed`.
    /// @param sealed   message.size() + aead_tag_bytes bytes.
    void seal(AeadNonce nonce,
              std::span<const std::uint8_t> message,
              std::span<std::uint8_t> sealed) const;

    /// False unless it was sealed with this key, cipher and nonce; `message` must not be used then.
    /// @param message  sealed.size() - aead_tag_bytes bytes; may be the beginning of `sealed`.
    [[nodiscard]] bool open(AeadNonce nonce,
                            std::span<const std::uint8_t> sealed,
                            std::span<std::uint8_t> message) const;

  private:
    SecretKey key_;
    AeadCipher cipher_;
    GuardedBytes round_keys_;  // of AES; else empty
};

}  // namespace sotto
