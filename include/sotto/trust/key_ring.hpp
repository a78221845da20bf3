#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "sotto/plan/noise_plan.hpp"
#include "sotto/trust/normal_stream.hpp"
#include "sotto/trust/secret.hpp"

namespace sotto {

/// The seeds one agent holds: those of the seed groups it belongs to, and no others.
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

/// Every seed of a plan is made here and nowhere else.
///
/// A group of one agent: `draw_own_seeds` on that agent. A group of several: `draw_dealt_seeds` on
/// the dealer (rank 0), which seals to each member what that member is entitled to.
/// @param noise_seed if not null, seeds derive from it (reproducible, insecure); otherwise they
/// come
///        from the operating system.
void draw_own_seeds(const NoisePlan& plan, const std::uint64_t* noise_seed, KeyRing& ring);
[[nodiscard]] std::map<int, SecretKey> draw_dealt_seeds(const NoisePlan& plan,
                                                        const std::uint64_t* noise_seed);

/// X25519 key pair that lives as long as the bootstrap.
class EphemeralKeyPair {
  public:
    EphemeralKeyPair();
    [[nodiscard]] std::span<const std::uint8_t, 32> public_key() const { return public_; }
    [[nodiscard]] const SecretKey& secret_key() const { return secret_; }

  private:
    std::array<std::uint8_t, 32> public_{};
    SecretKey secret_;
};

/// The seeds of `recipient`'s groups, sealed (crypto_box_seal) to its ephemeral public key.
[[nodiscard]] std::vector<std::uint8_t> seal_seeds(const NoisePlan& plan,
                                                   const std::map<int, SecretKey>& seeds,
                                                   int recipient,
                                                   std::span<const std::uint8_t, 32> public_key);
/// Opens what the dealer sealed and adds it to the ring.
/// @throws CryptoError if it was not sealed to this pair, is damaged, or holds other groups than
///         exactly those of several members that the plan entitles the agent to.
void open_seeds(const NoisePlan& plan,
                std::span<const std::uint8_t> sealed,
                const EphemeralKeyPair& pair,
                KeyRing& ring);

}  // namespace sotto
