#include "trust/pair_secrets.hpp"

#include <fmt/format.h>
#include <sodium.h>

#include <algorithm>
#include <utility>

#include "sotto/core/error.hpp"
#include "trust/secret.hpp"

namespace sotto {

PairSecrets::PairSecrets(int agent,
                         const Digest& transcript,
                         SecretKey own_secret,
                         std::shared_ptr<const std::vector<PublicKey>> public_keys)
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
    const auto& public_key = (*public_keys_)[static_cast<std::size_t>(peer)];
    // Fails for points of small order, whose result everybody would know.
    if (crypto_scalarmult(shared.data(), own_secret_.bytes().data(), public_key.data()) != 0) {
        sodium_memzero(shared.data(), shared.size());
        throw CryptoError(fmt::format("the public key of agent {} is unusable", peer));
    }
    SecretHash hash("sotto.pair-secret.v1", shared);
    sodium_memzero(shared.data(), shared.size());
    hash.absorb(transcript_);
    hash.absorb(std::min(agent_, peer));
    hash.absorb(std::max(agent_, peer));
    return secrets_.emplace(peer, hash.finish()).first->second;
}

}  // namespace sotto
