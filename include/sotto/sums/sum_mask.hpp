#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sotto/trust/pair_secrets.hpp"
#include "sotto/trust/secret.hpp"

namespace sotto {

/// Words per unit of a mask's counter: pieces start at multiples of it.
inline constexpr std::int64_t mask_block = 8;
/// Words masked at a time. With their keystream they stay in the first-level cache.
inline constexpr std::size_t mask_piece = 1024;

/// @throws Error unless these words are in the reach of the counter, and the first is at the
/// beginning of a block.
void check_mask_range(std::int64_t first, std::size_t count);

/// The words two neighbours of a receiver add and subtract: a ChaCha20 keystream as little-endian
/// 64-bit words. The key belongs to (pair, receiver, key epoch), the nonce to (round, gossip step),
/// and the counter is the coordinate: no word is used for two sums.
class SumMask {
  public:
    /// key = KDF(pair secret, "sottosum", receiver 2^32 + epoch).
    /// @param peer the other neighbour.  @param receiver who gets the sum.
    SumMask(PairSecrets& secrets, int peer, int receiver, std::uint32_t key_epoch);

    /// words[i] += mask word first + i at the lower of the two agents, -= at the higher.
    /// @param first a multiple of mask_block; first + words.size() <= 2^35.
    /// @param scratch keystream is made here in pieces, at least mask_block words; holds mask words
    /// afterwards.
    void apply(std::int64_t round,
               std::int64_t step,
               std::int64_t first,
               std::span<std::uint64_t> words,
               std::span<std::uint64_t> scratch) const;

  private:
    SecretKey key_;
    bool adds_;
};

/// Places of the neighbours that share a mask with the one at `place`, ascending: those up to
/// `per_side` steps away on the ring of the receiver's `neighbours` neighbours (ascending). All
/// others where that reaches everybody.
///
/// The receiver learns more than the sum of its honest neighbours only if their mask graph falls
/// apart. With all joined to all it never does; otherwise each has 2 per_side partners, and 2
/// per_side colluding neighbours are needed to cut one off: it withstands 2 per_side - 1.
[[nodiscard]] std::vector<int> mask_partners(int neighbours, int place, int per_side);

}  // namespace sotto
