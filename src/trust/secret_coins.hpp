#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <vector>

#include "trust/secret.hpp"

namespace sotto {

/// Which records of one agent join the batch of a round: each with the same probability,
/// independently of all others (Poisson sampling). What privacy gains by it holds only while nobody
/// else knows the coins: they come from a key of the agent alone, by ChaCha20 with the round as
/// nonce, so that any round can be drawn again.
class SecretCoins {
  public:
    /// Probabilities are multiples of this, so that coins have exactly the probability that is
    /// accounted for.
    static constexpr double probability_step = 0x1p-53;

    /// @param probability of (0, 1]; rounded down to a multiple of probability_step.
    /// @throws ConfigError unless it is at least one step.
    SecretCoins(SecretKey key, double probability);

    [[nodiscard]] double probability() const { return probability_; }
    /// Numbers of the records, of 0 to records - 1, that join in this round, ascending. Nothing is
    /// allocated where `chosen` has room for all. Cost O(records): 1 random byte a record, about
    /// half a nanosecond.
    /// @param round below 2^63.  @param records below 2^31.
    void draw(std::uint64_t round, Eigen::Index records, std::vector<Eigen::Index>& chosen) const;

  private:
    SecretKey key_;
    double probability_;
    std::uint64_t steps_;  // the probability in units of probability_step
};

}  // namespace sotto
