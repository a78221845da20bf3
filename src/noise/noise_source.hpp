#pragma once

#include <Eigen/Dense>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "noise/normal_stream.hpp"
#include "plan/lagged_noise.hpp"
#include "sotto/plan/noise_plan.hpp"
#include "trust/key_ring.hpp"

namespace sotto {

/// Lets every (key epoch, round) of noise begin once, in ascending order, one at a time, and only
/// in the process that made the gate: noise sent twice would cancel in the difference of two
/// messages, and a forked process would draw the same noise. Thread-safe; movable; a moved-from
/// gate lets nothing in.
class RoundGate {
  public:
    /// @param subject of error messages ("training", "noise"); must outlive the gate.
    explicit RoundGate(const char* subject);
    RoundGate(RoundGate&&) noexcept;
    RoundGate& operator=(RoundGate&&) noexcept;
    ~RoundGate();

    struct State;
    struct Leave {
        void operator()(State* state) const noexcept;
    };
    /// Excludes all others while it lives. It must not outlive the gate.
    using Stay = std::unique_ptr<State, Leave>;

    /// @throws PrivacyError in another process than the gate's, or if a Stay exists, even the
    /// caller's own. Cost: a system call.
    [[nodiscard]] Stay enter() const;
    /// False in another process than the gate's, and if moved from.
    [[nodiscard]] bool in_its_process() const noexcept;
    /// Begins a round; call it between enter() and the end of the Stay. Rounds may be skipped.
    /// @throws PrivacyError unless (epoch, round) is above all rounds begun before.
    void begin(std::uint32_t epoch, std::uint64_t round);

  private:
    std::unique_ptr<State> state_;
};

/// One noise vector of a round, for the message of a local agent to one receiver or to all.
struct NoiseOutput {
    std::size_t local_index = 0;
    int receiver = NoiseRow::all_receivers;
};

/// Draws the noise of the agents of one process: for every agent v_u(t), or one vector per
/// receiver. A coordinate's value depends only on the seeds, the epoch, the round and the plan. A
/// Laplace variable of scale 1 is z1 z2 - z3 z4 of four normals of its stream.
///
/// Streams shared by several local agents are generated once, tile by tile: memory stays at a few
/// megabytes beside the result, whatever the dimension and the number of rounds.
///
/// Rounds begin as RoundGate allows. To inspect past noise, or to measure, make another source.
///
/// Noise correlated over rounds, v(t) = sum_s (C_time^-1)_ts q(s) with q = scale F z, is made by
/// forward substitution (LaggedNoise) from an agent's own past. There are three ways, with the same
/// bits, since the past is always added from the oldest round on:
///
/// - if B vectors per output (B lags) fit into `most_past_bytes`, they are kept. Rounds are drawn
///   in order from round 0 of each epoch; skipped rounds are made too;
/// - with 32 lags or more, the older ones are in addition summed for eight rounds at once, which
///   keeps eight more vectors;
/// - otherwise q of the last B rounds is drawn again in every round, tile by tile, if the past is
///   that of q. With a band of C_time it is not, and the few lags are always kept.
///
/// Only the result is rounded to the grid.
class NoiseSource {
  public:
    static constexpr std::int64_t usual_past_bytes = std::int64_t{2} << 30;
    /// @param rings one per local agent, with the seeds the plan gives it.
    /// @param most_past_bytes of past noise kept for all outputs together.
    /// @throws CryptoError if a seed is missing.
    NoiseSource(const NoisePlan& plan,
                std::span<const KeyRing> rings,
                int threads,
                std::int64_t most_past_bytes = usual_past_bytes);

    /// Columns of draw(): by agent, then by receiver, ascending.
    [[nodiscard]] std::span<const NoiseOutput> outputs() const { return outputs_; }
    /// noise (dimension x outputs) of one round, rounded to the plan's grid. Cost: streams of the
    /// process * dimension normals, and one multiplication and addition per coefficient and
    /// coordinate; if the past is drawn again, that times min(round, lags) + 1.
    /// @throws PrivacyError as RoundGate, and for a round beyond the plan's.
    void draw(std::uint32_t epoch, std::uint64_t round, Eigen::Ref<Eigen::MatrixXd> noise);
    /// The same in pieces: begin() starts a round of this dimension and drops an unfinished one;
    /// each draw_piece() makes a tile of coordinates (about a millisecond if the past has few
    /// lags), always in the same matrix. @return whether more are left; when none are, nothing is
    /// drawn until another round begins.
    /// @throws PrivacyError as draw, and for a second matrix.
    void begin(std::uint32_t epoch, std::uint64_t round, Eigen::Index dimension);
    [[nodiscard]] bool draw_piece(Eigen::Ref<Eigen::MatrixXd> noise);

    [[nodiscard]] int streams() const { return static_cast<int>(streams_.size()); }
    /// Number of past vectors that a round's noise depends on.
    [[nodiscard]] int lags() const { return temporal_.lags; }
    /// Whether the past of vectors of this dimension is too large to be kept.
    [[nodiscard]] bool draws_past_again(Eigen::Index dimension) const;
    /// Most bytes kept beside the result, for vectors of this dimension.
    [[nodiscard]] std::int64_t memory_bytes(Eigen::Index dimension) const;

  private:
    void begin_round(std::uint32_t epoch, std::uint64_t round, Eigen::Index dimension);
    [[nodiscard]] bool next_piece(Eigen::Ref<Eigen::MatrixXd> noise);
    struct WeightedColumns {
        void clear();
        void add(const double* column, double weight);
        void write(std::span<double> out) const;
        std::vector<const double*> values;
        std::vector<double> weights;
    };
    struct Combination {
        std::vector<int> columns;     // into streams_
        std::vector<double> weights;  // coefficient * scale
    };
    /// Values of one stream with the plan's distribution, as NormalStream::fill.
    void fill(const NormalStream& stream,
              std::uint32_t epoch,
              std::uint64_t round,
              std::uint64_t first,
              std::span<double> out) const;
    /// Coordinates from `first` on, of all outputs. @return how many were drawn.
    Eigen::Index draw_tile(std::uint64_t round,
                           Eigen::Index first,
                           Eigen::Ref<Eigen::MatrixXd> noise);
    [[nodiscard]] bool keeps_past(Eigen::Index dimension) const {
        return rounds_ > 0 && !draws_past_again(dimension);
    }
    /// Coordinates per tile.
    [[nodiscard]] Eigen::Index tile_size(Eigen::Index dimension) const;
    /// q of one round, coordinates from `first` on: columns of `out`, one per output.
    void draw_fresh(std::uint32_t epoch,
                    std::uint64_t round,
                    Eigen::Index first,
                    Eigen::Ref<Eigen::MatrixXd> out);
    /// Whether the past is summed for several rounds at once.
    [[nodiscard]] bool sums_ahead(Eigen::Index dimension) const;
    /// Adds what rounds [from, end) contribute to a round, as far as they are within its lags.
    void add_past(std::size_t output,
                  Eigen::Index round,
                  Eigen::Index from,
                  Eigen::Index end,
                  Eigen::Index first);
    /// Sums, into ahead_, what all rounds before `begun` contribute to it and to those after it.
    void sum_ahead(std::size_t output, Eigen::Index begun, Eigen::Index first, Eigen::Index count);
    /// From q(t) to v(t), in place; `first` is their row in history_.
    void correlate(std::size_t output,
                   std::uint64_t round,
                   Eigen::Index first,
                   std::span<double> values);

    RoundGate gate_{"noise"};
    LaggedNoise temporal_;
    std::uint64_t rounds_ = 0;  // covered by the temporal factor
    std::int64_t most_past_bytes_;
    std::vector<Eigen::MatrixXd> history_;      // dimension, or a tile, x lags; one per output
    std::vector<Eigen::MatrixXd> ahead_;        // dimension x rounds; one per output, or none
    Eigen::MatrixXd past_;                      // tile x outputs
    std::uint32_t epoch_ = 0;                   // of what is drawn, and of history_
    std::uint64_t next_round_ = 0;              // history_ holds all before it
    std::uint64_t round_ = 1, last_round_ = 0;  // first and last round being drawn; none if empty
    Eigen::Index next_coordinate_ = 0;          // of round_; not 0: it is drawn in part
    const double* matrix_ = nullptr;            // the matrix the round is drawn in
    Eigen::MatrixXd correlated_;                // tile x outputs
    std::vector<NormalStream> streams_;
    bool laplace_;
    std::vector<NoiseOutput> outputs_;
    std::vector<Combination> combinations_;  // one per output
    double grid_step_;
    int threads_;
    Eigen::MatrixXd bank_;               // tile x streams
    std::vector<WeightedColumns> sums_;  // being put together, one per output
};

/// Rounds every value exactly to the nearest multiple of `grid_step` (a power of two). Values must
/// be below 2^51 grid steps, which a valid plan ensures (finest_grid_step).
void round_to_grid(std::span<double> values, double grid_step);
/// The same for values of any size, a little slower.
void round_message_to_grid(std::span<double> values, double grid_step);
/// Rounds every value toward zero to a multiple of `grid_step`: norms never grow.
void truncate_to_grid(std::span<double> values, double grid_step);

}  // namespace sotto
