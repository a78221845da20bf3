#include "trust/key_ring.hpp"

#include <fmt/format.h>

#include <utility>

#include "sotto/core/error.hpp"

namespace sotto {

void KeyRing::add(int group, SecretKey seed) {
    if (holds(group))
        throw CryptoError(
            fmt::format("agent {} already holds the seed of group {}", agent_, group));
    seeds_.emplace(group, std::move(seed));
}

std::vector<int> KeyRing::groups() const {
    std::vector<int> result;
    result.reserve(seeds_.size());
    for (const auto& entry : seeds_) result.push_back(entry.first);
    return result;
}

const SecretKey& KeyRing::seed(int group) const {
    const auto found = seeds_.find(group);
    if (found == seeds_.end())
        throw CryptoError(
            fmt::format("agent {} does not hold the seed of group {}", agent_, group));
    return found->second;
}

void KeyRing::add_coins(SecretKey key) {
    if (coins_) throw CryptoError(fmt::format("agent {} already has a key of coins", agent_));
    coins_ = std::move(key);
}

const SecretKey& KeyRing::coins() const {
    if (!coins_) throw CryptoError(fmt::format("agent {} has no key of coins", agent_));
    return *coins_;
}

SecretKey KeyRing::stream_key(int group, std::uint64_t index) const {
    return seed(group).derive("sottostr", index);
}

}  // namespace sotto
