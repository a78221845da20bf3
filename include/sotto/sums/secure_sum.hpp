#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sotto/graph/graph.hpp"
#include "sotto/sums/sum_mask.hpp"
#include "sotto/trust/link_cipher.hpp"
#include "sotto/trust/pair_secrets.hpp"

namespace sotto {

/// Largest |w_av m_v| that one of a receiver's `neighbours` may send: 2^22 / neighbours, so that
/// no sum comes near 2^63 steps.
[[nodiscard]] double sum_range(int neighbours);

/// One agent's part in secure sums (docs/equations.md 10): every neighbour a learns
/// sum_v w_av m_v over its neighbours v, and of this agent's message nothing else.
///
///     share for a:  round(w_av m_v 2^40) + sum_{u > v} mask(v, u, a) - sum_{u < v} mask(u, v, a)
///                   (mod 2^64),  u over v's mask partners among a's neighbours.
///
/// Added up over all of a's neighbours the masks cancel exactly; without any one of them the rest
/// is uniformly random. The sum differs from the plain one by at most half a step a neighbour. With
/// one neighbour there is no mask: the sum is its message.
class SecureSum {
  public:
    /// @param graph who sends to whom.  @param secrets of the agent; pairs that share a receiver
    /// need not be neighbours.  @param partners_per_side >= 1, see mask_partners; equal for all
    /// agents.
    /// Cost: a key for each receiver and partner.
    SecureSum(const Graph& graph,
              PairSecrets& secrets,
              std::uint32_t key_epoch,
              int partners_per_side);

    [[nodiscard]] int agent() const { return agent_; }
    /// Mask words this agent makes for every coordinate of a message.
    [[nodiscard]] std::int64_t masks() const;

    /// Begins one sum: nothing may be sent before this has returned.
    /// @param message m_v, kept by reference until the exchange is over.
    /// @param weights w_av for each neighbour a, ascending.
    /// @throws Error naming agent, coordinate, value and range if a weighted value is not finite or
    /// beyond sum_range; CryptoError unless (round, step) comes after that of the sum before.
    void begin(std::int64_t round,
               std::int64_t step,
               std::span<const double> message,
               std::span<const double> weights);

    /// Coordinates [first, first + words.size()) of the share for the neighbour-th neighbour. May
    /// be called from several threads. @param first a multiple of mask_block.
    void share(std::size_t neighbour, std::int64_t first, std::span<std::uint64_t> words) const;

    /// out[i] = own_weight * own[i] + sum[i] 2^-40, sum as a signed number: what the agent mixes.
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
