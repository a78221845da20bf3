#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <span>

#include "sotto/trust/secret.hpp"

namespace sotto {

using IdentityKey = std::array<std::uint8_t, 32>;  ///< Ed25519 public key
using Signature = std::array<std::uint8_t, 64>;    ///< Ed25519

/// Who an agent is, from run to run: an Ed25519 key pair. The secret (the 32 bytes the pair derives
/// from) is in guarded memory; signing expands it on the stack and wipes that.
///
/// File: three lines, "sotto-identity 1", "public <64 hex digits>", "secret <64 hex digits>";
/// mode 0600.
class Identity {
  public:
    [[nodiscard]] static Identity generate();
    /// @throws DataError if the file cannot be read or is no identity; ConfigError, with the
    /// command that mends it, if its group or others have any access to it.
    [[nodiscard]] static Identity read(const std::filesystem::path& path);
    /// Creates the file, mode 0600, and flushes it to disk.
    /// @throws ConfigError if it exists already (an identity is never overwritten) or cannot be
    /// written; nothing is left behind then.
    void write_new(const std::filesystem::path& path) const;

    [[nodiscard]] const IdentityKey& public_key() const { return public_; }
    [[nodiscard]] Signature sign(std::span<const std::uint8_t> message) const;
    /// For what only this identity may read, or have written: KDF(secret, "sottosav", 0).
    [[nodiscard]] SecretKey storage_key() const { return seed_.derive("sottosav", 0); }

  private:
    explicit Identity(SecretKey seed);
    SecretKey seed_;
    IdentityKey public_{};
};

/// False for a wrong signature and for keys that are no valid Ed25519 public keys.
[[nodiscard]] bool signature_is_good(const IdentityKey& key,
                                     std::span<const std::uint8_t> message,
                                     const Signature& signature);

}  // namespace sotto
