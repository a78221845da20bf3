#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sotto/graph/graph.hpp"
#include "trust/link_cipher.hpp"
#include "trust/pair_secrets.hpp"
#include "trust/secret.hpp"

namespace sotto {

/// Words per unit of a mask's counter; pieces start at multiples of it.
inline constexpr std::int64_t mask_block = 8;
/// Words masked at a time; with their keystream they stay in the first-level cache.
inline constexpr std::size_t mask_piece = 1024;

/// @throws Error unless the counter can address these words and the first begins a block.
void check_mask_range(std::int64_t first, std::size_t count);

/// The mask two neighbours of a receiver add and subtract: a ChaCha20 keystream as little-endian
/// 64-bit words. Key: (pair, receiver, key epoch); nonce: (round, gossip step); counter: the
/// coordinate. No word is used for two sums.
class SumMask {
  public:
    /// key = KDF(pair secret, "sottosum", receiver 2^32 + epoch).
    /// @param peer the other neighbour.  @param receiver who gets the sum.
    SumMask(PairSecrets& secrets, int peer, int receiver, std::uint32_t key_epoch);

    /// words[i] += mask word first + i at the lower of the two agents, -= at the higher.
    /// @param first a multiple of mask_block; first + words.size() <= 2^35.
    /// @param scratch at least mask_block words; holds mask words afterwards.
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
/// `per_side` steps away on the ring of the receiver's `neighbours` neighbours (ascending), or all
/// others if that reaches everybody.
///
/// The receiver learns more than the sum of its honest neighbours only if their mask graph is
/// disconnected. A complete mask graph never is; otherwise each neighbour has 2 per_side partners,
/// and cutting one off takes 2 per_side colluding neighbours: it withstands 2 per_side - 1.
[[nodiscard]] std::vector<int> mask_partners(int neighbours, int place, int per_side);

/// Largest |w_av m_v| that one of a receiver's `neighbours` may send: 2^22 / neighbours, which
/// keeps sums far from 2^63 steps.
[[nodiscard]] double sum_range(int neighbours);

/// One agent's part in secure sums (docs/equations.md#secure-sums): every neighbour a learns sum_v
/// w_av m_v over its neighbours v, and nothing else of this agent's message.
///
///     share for a:  round(w_av m_v 2^40) + sum_{u > v} mask(v, u, a) - sum_{u < v} mask(u, v, a)
///                   (mod 2^64),  u over v's mask partners among a's neighbours.
///
/// Over all of a's neighbours the masks cancel exactly; if one share is missing, the sum of the
/// others is uniformly random. The sum differs from the plain one by at most half a step per
/// neighbour. A receiver with one neighbour gets that neighbour's message: there is no mask.
class SecureSum {
  public:
    /// @param graph who sends to whom.  @param secrets of the agent; two agents with a common
    /// receiver need not be neighbours.  @param partners_per_side >= 1, see mask_partners; equal
    /// for all agents. Cost: a key for each receiver and partner.
    SecureSum(const Graph& graph,
              PairSecrets& secrets,
              std::uint32_t key_epoch,
              int partners_per_side);

    [[nodiscard]] int agent() const { return agent_; }
    /// Mask words this agent makes per coordinate of a message.
    [[nodiscard]] std::int64_t masks() const;

    /// Begins one sum. Nothing may be sent before this has returned.
    /// @param message m_v; must live until the exchange is over.
    /// @param weights w_av for each neighbour a, ascending.
    /// @throws Error naming agent, coordinate, value and range if a weighted value is not finite or
    /// beyond sum_range; CryptoError unless (round, step) comes after that of the sum before.
    void begin(std::int64_t round,
               std::int64_t step,
               std::span<const double> message,
               std::span<const double> weights);

    /// Coordinates [first, first + words.size()) of the share for the neighbour-th neighbour.
    /// Thread-safe. @param first a multiple of mask_block.
    void share(std::size_t neighbour, std::int64_t first, std::span<std::uint64_t> words) const;

    /// out[i] = own_weight * own[i] + sum[i] 2^-40, sum as a signed number: the mixed model.
    static void finish(std::span<const std::uint64_t> sum,
                       double own_weight,
                       std::span<const double> own,
                       std::span<double> out);
    /// The sum of the neighbours alone.
    static void decode(std::span<const std::uint64_t> sum, std::span<double> out);

  private:
    struct Receiver {
        int agent;
        int neighbours;
        std::vector<SumMask> masks;
    };
    int agent_;
    std::vector<Receiver> receivers_;  // one per neighbour, ascending
    ChunkAddress current_{-1, 0, 0};
    std::span<const double> message_;
    std::vector<double> weights_;
};

}  // namespace sotto
