#pragma once

#include <Eigen/Dense>
#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace sotto {

/// The rows of one agent's batch in every round. Deterministic in (seed, agent, round), or in
/// (coins, round) for Poisson sampling, with random access: a resumed run draws the same batches.
class BatchSampler {
  public:
    /// Every round: `batch_size` distinct rows of `records`, uniformly at random.
    /// @throws ConfigError unless batch_size is in [1, records].
    [[nodiscard]] static BatchSampler uniform(Eigen::Index records,
                                              Eigen::Index batch_size,
                                              std::uint64_t seed,
                                              int agent);
    /// Cyclic participation: an order fixed by the seed, cut into `batches` parts of
    /// ceil(records/batches) rows (the last may be shorter or empty); round t uses part t mod
    /// batches.
    /// @throws ConfigError unless batches is in [1, records].
    [[nodiscard]] static BatchSampler cyclic(Eigen::Index records,
                                             Eigen::Index batches,
                                             std::uint64_t seed,
                                             int agent);

    /// Round t: row t alone. A round past the last row is an error.
    [[nodiscard]] static BatchSampler in_order(Eigen::Index records);

    /// Poisson sampling: the rows that secret coins choose (SecretCoins::draw), possibly none.
    /// @param draw fills the vector, which has capacity for all, in ascending order.
    using Draw = std::function<void(
        std::uint64_t round, Eigen::Index records, std::vector<Eigen::Index>& chosen)>;
    [[nodiscard]] static BatchSampler drawn(Eigen::Index records, Draw draw);
    /// The same within parts: records are dealt as by `cyclic`, and round t draws from part t mod
    /// parts.
    /// @throws ConfigError unless parts is in [1, records].
    [[nodiscard]] static BatchSampler drawn_from_parts(
        Eigen::Index records, Eigen::Index parts, std::uint64_t seed, int agent, Draw draw);

    /// Most rows of a batch, whatever the draws.
    [[nodiscard]] Eigen::Index largest_batch() const { return batch_size_; }
    /// Rows of the round's batch, valid until the next call. Cost O(batch size).
    [[nodiscard]] std::span<const Eigen::Index> rows(std::uint64_t round);

  private:
    BatchSampler() = default;
    /// Next 32 random bits of the current round.
    [[nodiscard]] std::uint32_t random_word();
    void start_round(std::uint64_t round);
    /// The cyclic part of a round.
    [[nodiscard]] std::span<const Eigen::Index> part_of(std::uint64_t round) const;
    [[nodiscard]] std::span<const Eigen::Index> drawn_rows(std::uint64_t round);
    void make_room(Eigen::Index largest);
    void refill();

    Draw draw_;                 // Poisson sampling; empty: not
    Eigen::Index records_ = 0;  // of Poisson sampling
    Eigen::Index batch_size_ = 0;
    Eigen::Index batches_ = 0;             // 0: uniform
    bool once_ = false;                    // in_order: no second cycle
    std::vector<Eigen::Index> order_;      // every row once; uniform: ascending except for
                                           // partners_
    std::vector<Eigen::Index> chosen_;     // Poisson sampling: rows of the round
    std::vector<std::uint32_t> partners_;  // row i of the batch was swapped with row partners_[i]
    std::array<std::uint8_t, 32> key_{};   // of this agent's ChaCha20, one nonce per round
    std::uint64_t round_ = 0;
    std::uint64_t next_block_ = 0;
    std::vector<std::uint32_t> words_;
    std::size_t used_words_ = 0;
};

}  // namespace sotto
