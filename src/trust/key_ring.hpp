#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "trust/secret.hpp"

namespace sotto {

/// The seeds of the seed groups one agent belongs to (made in seed_agreement.hpp), and the key of
/// its coins, which it alone holds.
class KeyRing {
  public:
    explicit KeyRing(int agent) : agent_(agent) {}
    [[nodiscard]] int agent() const { return agent_; }
    /// @throws CryptoError if the group's seed is already there.
    void add(int group, SecretKey seed);
    [[nodiscard]] bool holds(int group) const { return seeds_.contains(group); }
    [[nodiscard]] std::vector<int> groups() const;
    [[nodiscard]] const SecretKey& seed(int group) const;
    /// Key of a stream of the group: KDF(seed, "sottostr", index).
    /// @throws CryptoError if the agent does not hold the group's seed.
    [[nodiscard]] SecretKey stream_key(int group, std::uint64_t index) const;

    /// Key of SecretCoins, where batches are sampled in secret. @throws CryptoError if already set.
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
