#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "sotto/trust/secret.hpp"

namespace sotto {

/// X25519 key pair of one run.
class EphemeralKeyPair {
  public:
    EphemeralKeyPair();
    [[nodiscard]] std::span<const std::uint8_t, 32> public_key() const { return public_; }
    [[nodiscard]] const SecretKey& secret_key() const { return secret_; }

  private:
    std::array<std::uint8_t, 32> public_{};
    SecretKey secret_;
};

}  // namespace sotto
