#include "sotto/trust/pair_secrets.hpp"

#include <fmt/format.h>
#include <sodium.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "sotto/core/error.hpp"

namespace sotto {

PairSecrets::PairSecrets(int agent,
                         const Digest& transcript,
                         SecretKey own_secret,
                         std::vector<PublicKey> public_keys)
    : agent_(agent),
      transcript_(transcript),
      own_secret_(std::move(own_secret)),
      public_keys_(std::move(public_keys)) {
    ensure_sodium();
}

const SecretKey& PairSecrets::with(int peer) {
    if (peer < 0 || peer >= agents() || peer == agent_)
        throw CryptoError(fmt::format("agent {} shares no secret with agent {}", agent_, peer));
    if (const auto found = secrets_.find(peer); found != secrets_.end()) return found->second;

    std::array<std::uint8_t, crypto_scalarmult_BYTES> shared{};
    const auto& public_key = public_keys_[static_cast<std::size_t>(peer)];
    // Fails for points of small order, whose result would be known to everybody.
    if (crypto_scalarmult(shared.data(), own_secret_.bytes().data(), public_key.data()) != 0) {
        sodium_memzero(shared.data(), shared.size());
        throw CryptoError(fmt::format("the public key of agent {} is unusable", peer));
    }
    constexpr std::string_view purpose = "sotto.pair-secret.v1";
    const std::array<std::uint32_t, 2> pair{static_cast<std::uint32_t>(std::min(agent_, peer)),
                                            static_cast<std::uint32_t>(std::max(agent_, peer))};
    std::array<std::uint8_t, SecretKey::size> digest{};
    crypto_generichash_state state;
    crypto_generichash_init(&state, shared.data(), shared.size(), digest.size());
    crypto_generichash_update(
        &state, reinterpret_cast<const unsigned char*>(purpose.data()), purpose.size());
    crypto_generichash_update(&state, transcript_.data(), transcript_.size());
    for (const std::uint32_t end : pair) {
        const std::array<std::uint8_t, 4> bytes{static_cast<std::uint8_t>(end),
                                                static_cast<std::uint8_t>(end >> 8),
                                                static_cast<std::uint8_t>(end >> 16),
                                                static_cast<std::uint8_t>(end >> 24)};
        crypto_generichash_update(&state, bytes.data(), bytes.size());
    }
    crypto_generichash_final(&state, digest.data(), digest.size());
    SecretKey secret = SecretKey::from_bytes(digest);
    sodium_memzero(shared.data(), shared.size());
    sodium_memzero(digest.data(), digest.size());
    sodium_memzero(&state, sizeof state);
    return secrets_.emplace(peer, std::move(secret)).first->second;
}

}  // namespace sotto
