#pragma once

// Nonces that both ends compute; not installed.

#include <array>
#include <cstdint>

#include "sotto/trust/link_cipher.hpp"

namespace sotto {

/// 96 bits, little-endian: round (48), gossip step (16), chunk (32). Different addresses give
/// different nonces. @throws CryptoError for a part that does not fit.
[[nodiscard]] std::array<std::uint8_t, 12> nonce_of(const ChunkAddress& address);

}  // namespace sotto
