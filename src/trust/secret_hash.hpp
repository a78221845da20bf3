#pragma once

// Hashes of secrets; not installed.

#include <sodium.h>

#include <cstdint>
#include <span>
#include <string_view>

#include "sotto/trust/secret.hpp"

namespace sotto {

/// BLAKE2b-256(key; purpose, what is absorbed): nothing of it stays on the stack.
class SecretHash {
  public:
    /// @param key up to 64 bytes; may be empty.
    SecretHash(std::string_view purpose, std::span<const std::uint8_t> key);
    SecretHash(const SecretHash&) = delete;
    SecretHash& operator=(const SecretHash&) = delete;
    ~SecretHash();

    void absorb(std::span<const std::uint8_t> bytes);
    /// Four bytes, little-endian.
    void absorb(int number);
    /// Once.
    [[nodiscard]] SecretKey finish();

  private:
    crypto_generichash_state state_;
};

}  // namespace sotto
