#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "sotto/trust/secret.hpp"

namespace sotto {

/// What a sealed message is for; a message for one purpose does not open as another.
enum class SealPurpose : std::uint8_t {
    seeds,           ///< seeds of groups, from their lowest member
    share,           ///< an agent's share of joint seeds, to agent 0
    all_shares,      ///< all shares, from agent 0
    saved_seeds,     ///< an agent's own seeds, for itself
    checkpoint_copy  ///< an agent's own checkpoint, for itself
};
/// Authenticated encryption from one agent to another: XChaCha20-Poly1305, random nonce, key =
/// KDF(pair secret, "sottobox", 2 * purpose + direction). 40 bytes longer than the content.
[[nodiscard]] std::string seal(const SecretKey& pair_secret,
                               SealPurpose purpose,
                               int sender,
                               int recipient,
                               std::span<const std::uint8_t> content);

/// @throws CryptoError naming both agents if the message was not sealed so, or was changed.
[[nodiscard]] SecretBytes open_sealed(const SecretKey& pair_secret,
                                      SealPurpose purpose,
                                      int sender,
                                      int recipient,
                                      std::string_view sealed);

}  // namespace sotto
