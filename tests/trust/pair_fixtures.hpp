#pragma once

#include <sodium.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "trust/pair_secrets.hpp"

namespace sotto::test {

/// The secrets of agents 0 to agents - 1, the same in every process.
inline std::vector<PairSecrets> pair_secrets(int agents, std::uint64_t seed = 1) {
    ensure_sodium();
    std::vector<PublicKey> keys(static_cast<std::size_t>(agents));
    const auto secret_of = [&](int agent) {
        return SecretKey::from_noise_seed(seed, "test.pair", static_cast<std::uint64_t>(agent));
    };
    for (int u = 0; u < agents; ++u)
        crypto_scalarmult_base(keys[static_cast<std::size_t>(u)].data(),
                               secret_of(u).bytes().data());
    std::vector<PairSecrets> result;
    const auto shared = std::make_shared<const std::vector<PublicKey>>(std::move(keys));
    for (int u = 0; u < agents; ++u) result.emplace_back(u, Digest{}, secret_of(u), shared);
    return result;
}

}  // namespace sotto::test
