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

/// Lets rounds of noise begin: every (key epoch, round) once, in ascending order, one at a time,
/// and only in the process that made the gate. Noise that left twice would cancel in the difference
/// of two messages, and a process that was forked has the same keys, so it would draw the same
/// noise. Thread-safe; movable; what it was moved from lets nothing in.
class RoundGate {
  public:
    /// @param subject of error messages, which lives as long: "training", "noise".
    explicit RoundGate(const char* subject);
    RoundGate(RoundGate&&) noexcept;
    RoundGate& operator=(RoundGate&&) noexcept;
    ~RoundGate();

    struct State;
    struct Leave {
        void operator()(State* state) const noexcept;
    };
    /// While it lives nobody else enters. It must not outlive the gate.
    using Stay = std::unique_ptr<State, Leave>;

    /// @throws PrivacyError in another process than the gate's, or while somebody is in, who may be
    /// the caller. Cost: a system call.
    [[nodiscard]] Stay enter() const;
    /// Whether this process is the one that made it, and it was not moved from.
    [[nodiscard]] bool in_its_process() const noexcept;
    /// Begins a round, of whoever has entered. Rounds may be left out.
    /// @throws PrivacyError unless (epoch, round) is above all that began before.
    void begin(std::uint32_t epoch, std::uint64_t round);

  private:
    std::unique_ptr<State> state_;
};

/// One noise vector of a round: what goes into the message of an agent of this process for one
/// receiver, or for all of them.
struct NoiseOutput {
    std::size_t local_index = 0;
    int receiver = NoiseRow::all_receivers;
};

/// Draws the noise of the agents of one process, as the plan says: for every agent v_u(t), or one
/// vector a receiver.
///
/// Streams shared by several of these agents are generated once; coordinates are worked off in
/// tiles, so memory stays at a few megabytes beside the result, whatever the dimension and the
/// number of rounds. The value of a coordinate depends only on the seeds, the epoch, the round and
/// the plan. A Laplace variable of scale 1 is z1 z2 - z3 z4 of four normals of its stream.
///
/// A round's noise leaves once: rounds begin in ascending order of (epoch, round), each once, in
/// the process that made the source (RoundGate). Whoever looks at noise that is past, or only
/// measures, makes a source of his own.
///
/// Noise that is correlated over rounds, v(t) = sum_s (C_time^-1)_ts q(s) with q = scale F z, is
/// made by forward substitution (LaggedNoise) from an agent's own past. With B lags, B vectors an
/// output are kept, as long as they fit into `most_past_bytes`, since reading them is quicker than
/// making them; rounds are then drawn in order, from round 0 of each epoch, and a round before
/// which some were left out makes those too. Of many lags (32 or more) the older ones are summed
/// for eight rounds at once, since each is read from memory; that keeps eight more vectors. Beyond,
/// q of the last B rounds is drawn again for every round, tile by tile, wherever the past is that
/// of q (not with a band of C_time, whose few lags are always kept). All give the same bits: the
/// past is added from the oldest round on. Only the result is rounded to the grid.
class NoiseSource {
  public:
    static constexpr std::int64_t usual_past_bytes = std::int64_t{2} << 30;
    /// @param rings one per local agent, holding the seeds the plan entitles it to.
    /// @param most_past_bytes of past noise kept for all outputs together.
    /// @throws CryptoError if a seed is missing.
    NoiseSource(const NoisePlan& plan,
                std::span<const KeyRing> rings,
                int threads,
                std::int64_t most_past_bytes = usual_past_bytes);

    /// Columns of what draw() makes: by agent, then by receiver, ascending.
    [[nodiscard]] std::span<const NoiseOutput> outputs() const { return outputs_; }
    /// noise (dimension x outputs) of one round, rounded to the plan's grid.
    /// Cost: streams of the process * dimension normals, and one multiplication and addition for
    /// every coefficient and coordinate; where the past is drawn again, that many times
    /// min(round, lags) + 1. @throws PrivacyError as RoundGate, or for a round beyond the plan's.
    void draw(std::uint32_t epoch, std::uint64_t round, Eigen::Ref<Eigen::MatrixXd> noise);
    /// The same in pieces: begins a round of this dimension, of which draw_piece() then makes some
    /// coordinates a call (a tile: about a millisecond, where the past has few lags), always in the
    /// same matrix. @return whether more are left; when none are, nothing is drawn until another
    /// round begins. What a round left is dropped when another begins.
    /// @throws PrivacyError as draw, and for a second matrix.
    void begin(std::uint32_t epoch, std::uint64_t round, Eigen::Index dimension);
    [[nodiscard]] bool draw_piece(Eigen::Ref<Eigen::MatrixXd> noise);

    [[nodiscard]] int streams() const { return static_cast<int>(streams_.size()); }
    /// Past vectors that a round's noise depends on.
    [[nodiscard]] int lags() const { return temporal_.lags; }
    /// Whether vectors of this dimension are too large for their past to be kept.
    [[nodiscard]] bool draws_past_again(Eigen::Index dimension) const;
    /// Bytes kept beside the result, at most, for vectors of this dimension.
    [[nodiscard]] std::int64_t memory_bytes(Eigen::Index dimension) const;

  private:
    void begin_round(std::uint32_t epoch, std::uint64_t round, Eigen::Index dimension);
    [[nodiscard]] bool next_piece(Eigen::Ref<Eigen::MatrixXd> noise);
    /// A sum that is put together column by column (weighted_sum.hpp).
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
    /// Values of one stream with the plan's distribution; as NormalStream::fill.
    void fill(const NormalStream& stream,
              std::uint32_t epoch,
              std::uint64_t round,
              std::uint64_t first,
              std::span<double> out) const;
    /// Coordinates from `first` on, of all outputs. @return how many.
    Eigen::Index draw_tile(std::uint64_t round,
                           Eigen::Index first,
                           Eigen::Ref<Eigen::MatrixXd> noise);
    [[nodiscard]] bool keeps_past(Eigen::Index dimension) const {
        return rounds_ > 0 && !draws_past_again(dimension);
    }
    /// Coordinates worked off at a time.
    [[nodiscard]] Eigen::Index tile_size(Eigen::Index dimension) const;
    /// q of one round, coordinates from `first` on: columns of `out`, one per output.
    void draw_fresh(std::uint32_t epoch,
                    std::uint64_t round,
                    Eigen::Index first,
                    Eigen::Ref<Eigen::MatrixXd> out);
    /// Whether the past is summed for several rounds at once.
    [[nodiscard]] bool sums_ahead(Eigen::Index dimension) const;
    /// What the past of rounds [from, end) brings to a round, as far as it has lags.
    void add_past(std::size_t output,
                  Eigen::Index round,
                  Eigen::Index from,
                  Eigen::Index end,
                  Eigen::Index first);
    /// What all rounds before `begun` bring to it and those that follow it, into ahead_.
    void sum_ahead(std::size_t output, Eigen::Index begun, Eigen::Index first, Eigen::Index count);
    /// From q(t) to v(t), in place; `first` is their row of history_.
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
    std::uint64_t round_ = 1, last_round_ = 0;  // being drawn, until which; beyond: none is
    Eigen::Index next_coordinate_ = 0;          // of round_; not 0: a part of it is drawn
    const double* matrix_ = nullptr;            // that the round is drawn in; none yet
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

/// Rounds every value to the nearest multiple of `grid_step` (a power of two). Exact; values must
/// be below 2^51 grid steps, which the noise of a valid plan is (finest_grid_step).
void round_to_grid(std::span<double> values, double grid_step);
/// The same for values of every size, a little slower.
void round_message_to_grid(std::span<double> values, double grid_step);
/// Rounds every value toward zero to a multiple of `grid_step`: norms never grow.
void truncate_to_grid(std::span<double> values, double grid_step);

}  // namespace sotto
