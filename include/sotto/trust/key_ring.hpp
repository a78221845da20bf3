#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "sotto/trust/normal_stream.hpp"
#include "sotto/trust/secret.hpp"

namespace sotto {

/// The seeds one agent holds: those of the seed groups it belongs to, and no others
/// (group_seeds.hpp says who makes them).
class KeyRing {
  public:
    explicit KeyRing(int agent) : agent_(agent) {}
    [[nodiscard]] int agent() const { return agent_; }
    /// @throws CryptoError if the group's seed is already there.
    void add(int group, SecretKey seed);
    [[nodiscard]] bool holds(int group) const { return seeds_.contains(group); }
    [[nodiscard]] std::vector<int> groups() const;
    [[nodiscard]] const SecretKey& seed(int group) const;
    /// The stream with this index inside its group: key = KDF(seed, "sottostr", index).
    /// @throws CryptoError if the agent does not hold the group's seed.
    [[nodiscard]] NormalStream stream(int group, std::uint64_t index) const;

  private:
    int agent_;
    std::map<int, SecretKey> seeds_;
};

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
