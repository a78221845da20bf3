#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <vector>

#include "trust/secret.hpp"

namespace sotto {

/// Poisson sampling: each record of an agent joins the batch of a round with the same probability,
/// independently of all others. Amplification by sampling needs coins that nobody else knows: they
/// come from a key of the agent alone, by ChaCha20 with the round as nonce, so any round can be
/// drawn again.
class SecretCoins {
  public:
    /// Probabilities are multiples of this, so coins have exactly the accounted probability.
    static constexpr double probability_step = 0x1p-53;

    /// @param probability in (0, 1]; rounded down to a multiple of probability_step.
    /// @throws ConfigError if it is below one step.
    SecretCoins(SecretKey key, double probability);

    [[nodiscard]] double probability() const { return probability_; }
    /// Sets `chosen` to the records, in [0, records), that join in this round, ascending. Allocates
    /// nothing if `chosen` has capacity for all. Cost O(records): 1 random byte and about half a
    /// nanosecond per record.
    /// @param round below 2^63.  @param records below 2^31.
    void draw(std::uint64_t round, Eigen::Index records, std::vector<Eigen::Index>& chosen) const;

  private:
    SecretKey key_;
    double probability_;
    std::uint64_t steps_;  // the probability in units of probability_step
};

/// Random allocation: of every epoch of t rounds each record of an agent joins exactly one, drawn
/// uniformly, independently of all other records and epochs, with a key of the agent alone
/// (ChaCha20, the epoch as nonce), so any round can be drawn again.
class SecretPlaces {
  public:
    /// @param rounds_an_epoch t. @throws ConfigError unless it is from 2 to 2^31.
    SecretPlaces(SecretKey key, long rounds_an_epoch);
    SecretPlaces(const SecretPlaces&) = delete;
    SecretPlaces& operator=(const SecretPlaces&) = delete;
    ~SecretPlaces();

    /// Sets `chosen` to the records, in [0, records), of this round, ascending. Allocates nothing
    /// within an epoch if `chosen` has capacity for all. Cost O(records): comparisons, and in an
    /// epoch's first round asked 4 random bytes a record, kept until another epoch's.
    /// @param round from the first one of the epochs.  @param records below 2^31.
    void draw(std::uint64_t round, Eigen::Index records, std::vector<Eigen::Index>& chosen);

  private:
    void place(std::uint64_t epoch, std::size_t records);

    SecretKey key_;
    std::uint32_t rounds_;
    std::uint64_t epoch_ = ~std::uint64_t{0};  // of the places
    std::vector<std::uint32_t> places_;        // by record
};

}  // namespace sotto
