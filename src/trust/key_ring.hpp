#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "trust/secret.hpp"

namespace sotto {

/// The seeds one agent holds: those of the seed groups it belongs to, and no others
/// (seed_agreement.hpp says who makes them); and the key of its coins, which is its alone.
class KeyRing {
  public:
    explicit KeyRing(int agent) : agent_(agent) {}
    [[nodiscard]] int agent() const { return agent_; }
    /// @throws CryptoError if the group's seed is already there.
    void add(int group, SecretKey seed);
    [[nodiscard]] bool holds(int group) const { return seeds_.contains(group); }
    [[nodiscard]] std::vector<int> groups() const;
    [[nodiscard]] const SecretKey& seed(int group) const;
    /// Key of the stream with this index inside its group: KDF(seed, "sottostr", index).
    /// @throws CryptoError if the agent does not hold the group's seed.
    [[nodiscard]] SecretKey stream_key(int group, std::uint64_t index) const;

    /// Key of SecretCoins, where batches are sampled in secret. @throws CryptoError if there is
    /// one.
    void add_coins(SecretKey key);
    [[nodiscard]] bool holds_coins() const { return coins_.has_value(); }
    /// @throws CryptoError if there is none.
    [[nodiscard]] const SecretKey& coins() const;

  private:
    int agent_;
    std::map<int, SecretKey> seeds_;
    std::optional<SecretKey> coins_;
};

}  // namespace sotto
