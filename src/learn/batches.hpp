#pragma once

#include <Eigen/Dense>
#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace sotto {

/// Rows of every round's batch of one agent. Deterministic in (seed, agent, round), or in (coins,
/// round) for Poisson sampling: random access, so a resumed run draws the same batches.
class BatchSampler {
  public:
    /// Every round: `batch_size` distinct rows of `records`, uniformly at random.
    /// @param batch_size in [1, records].  @throws ConfigError if it is not.
    [[nodiscard]] static BatchSampler uniform(Eigen::Index records,
                                              Eigen::Index batch_size,
                                              std::uint64_t seed,
                                              int agent);
    /// Cyclic participation: a fixed order that depends on the seed only, cut into `batches`
    /// consecutive parts of ceil(records/batches) rows (the last may be shorter, or empty); round t
    /// uses part t mod batches.
    /// @param batches in [1, records].  @throws ConfigError if it is not.
    [[nodiscard]] static BatchSampler cyclic(Eigen::Index records,
                                             Eigen::Index batches,
                                             std::uint64_t seed,
                                             int agent);

    /// Round t: row t alone, for records that stand for rounds. Rounds past the last row are an
    /// error.
    [[nodiscard]] static BatchSampler in_order(Eigen::Index records);

    /// Poisson sampling: every round the rows that secret coins choose (SecretCoins::draw), any
    /// number of them, none among them.
    /// @param draw puts them into the vector, which has room for all, in ascending order.
    using Draw = std::function<void(
        std::uint64_t round, Eigen::Index records, std::vector<Eigen::Index>& chosen)>;
    [[nodiscard]] static BatchSampler drawn(Eigen::Index records, Draw draw);
    /// The same of one part in turn: records are dealt once, as by `cyclic`, and in round t the
    /// coins are those of the places in part t mod parts.
    /// @param parts in [1, records].  @throws ConfigError if it is not.
    [[nodiscard]] static BatchSampler drawn_from_parts(
        Eigen::Index records, Eigen::Index parts, std::uint64_t seed, int agent, Draw draw);

    /// Rows that a batch has at most: what is drawn never shows in it.
    [[nodiscard]] Eigen::Index largest_batch() const { return batch_size_; }
    /// Rows of the round's batch, valid until the next call. Cost O(batch size).
    [[nodiscard]] std::span<const Eigen::Index> rows(std::uint64_t round);

  private:
    BatchSampler() = default;
    /// Next 32 random bits of the round that start_round() began.
    [[nodiscard]] std::uint32_t random_word();
    void start_round(std::uint64_t round);
    /// Of a cycle of batches.
    [[nodiscard]] std::span<const Eigen::Index> part_of(std::uint64_t round) const;
    [[nodiscard]] std::span<const Eigen::Index> drawn_rows(std::uint64_t round);
    void make_room(Eigen::Index largest);
    void refill();

    Draw draw_;                 // Poisson sampling; empty: not
    Eigen::Index records_ = 0;  // of Poisson sampling
    Eigen::Index batch_size_ = 0;
    Eigen::Index batches_ = 0;             // 0: uniform
    bool once_ = false;                    // in_order: no second cycle
    std::vector<Eigen::Index> order_;      // every row once; uniform: ascending but for partners_
    std::vector<Eigen::Index> chosen_;     // Poisson sampling: those of the round
    std::vector<std::uint32_t> partners_;  // row i of the batch was swapped with row partners_[i]
    std::array<std::uint8_t, 32> key_{};   // of this agent's ChaCha20 sequences, one a round
    std::uint64_t round_ = 0;
    std::uint64_t next_block_ = 0;
    std::vector<std::uint32_t> words_;
    std::size_t used_words_ = 0;
};

}  // namespace sotto
