#pragma once

#include <Eigen/Dense>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sotto/core/hash.hpp"
#include "sotto/core/names.hpp"

namespace sotto {

/// Distribution of one coordinate of a stream: normal with variance 1, or Laplace with scale 1.
enum class StreamDistribution { gaussian, laplace };
/// Variance of such a coordinate.
[[nodiscard]] constexpr double unit_variance(StreamDistribution distribution) {
    return distribution == StreamDistribution::laplace ? 2 : 1;
}

/// Agents that hold one seed. Several streams may derive from it.
struct SeedGroup {
    std::vector<int> members;  ///< ascending, not empty
};

/// One source of random vectors.
struct NoiseStream {
    int group = 0;            ///< whose seed it derives from: exactly those who can compute it
    std::uint64_t index = 0;  ///< which stream of that group
    StreamDistribution distribution = StreamDistribution::gaussian;
};

/// What one sender adds for one class of receivers: sum over j of coefficients[j] z_{streams[j]}.
struct NoiseRow {
    static constexpr int all_receivers = -1;
    int sender = 0;
    /// all_receivers, or one agent; receiver == sender is the copy the sender keeps.
    int receiver = all_receivers;
    std::vector<int> streams;          ///< ascending
    std::vector<double> coefficients;  ///< as many; multiplied by NoisePlan::scale when injected
};

/// C_time, lower triangular T x T with positive diagonal: noise of round t is
/// sum_s (C_time^-1)_ts z_s.
struct TemporalFactor {
    enum class Kind {
        identity,  ///< independent rounds
        dense,     ///< `lower` is T x T
        banded,    ///< `lower` is T x (B+1): column b holds the b-th subdiagonal
        one_lag  ///< `lower` is T x 2, diagonal and subdiagonal of C_time^-1: the noise of round t
                 ///< is lower(t, 0) z_t + lower(t, 1) z_{t-1}
    };
    Kind kind = Kind::identity;
    Eigen::MatrixXd lower;
};

/// Where the noise enters.
enum class NoiseEntry {
    gradient,  ///< added to the clipped gradient, hence multiplied by the step size
    message    ///< added to the message itself
};

/// Who combines the messages.
enum class Aggregation {
    gossip,       ///< every agent mixes its neighbours' messages, which all of them can read
    trusted_mean  ///< a trusted aggregator reveals only the mean of all messages
};

/// Of a grid's step, in units of the largest standard deviation of noise.
inline constexpr int finest_grid_log2 = -46;

/// One model for every mechanism (docs/equations.md 3): a temporal factor, random streams, who
/// holds which seed, and how strongly each agent adds each stream:
///
///     v_u(t) = scale * sum_s (C_time^-1)_ts sum_k F_uk z_k(s),     R = scale^2 F F^T.
///
/// The grid's step is at least 2^finest_grid_log2 of the largest standard deviation of noise
/// (finest_grid_step): noise 32 times as large still has all its bits.
///
/// Pure data: the trainer, the accountant and the audit read it and know no mechanism by name.
/// `mechanism` is a label for people.
struct NoisePlan {
    std::string mechanism;
    int agents = 0;
    double scale = 0;        ///< [gradient unit]; 0 exactly when there are no streams
    int coalition_size = 0;  ///< q: made to protect against every coalition of q agents
    int grid_step_log2 = 0;  ///< noise and gradients are multiples of 2^grid_step_log2
    TemporalFactor temporal;
    NoiseEntry entry = NoiseEntry::gradient;
    Aggregation aggregation = Aggregation::gossip;
    std::vector<SeedGroup> groups;
    std::vector<NoiseStream> streams;
    std::vector<NoiseRow> rows;  ///< ascending by (sender, receiver)

    /// Checks every invariant stated above, and that each sender holds the seeds of its streams.
    /// @throws PrivacyError naming what is wrong. A plan that passes can be trained with.
    void validate() const;
    /// True when no noise is added at all.
    [[nodiscard]] bool noiseless() const { return streams.empty(); }
    /// True when every sender sends the same message to all receivers.
    [[nodiscard]] bool same_message_to_all() const;
    /// Of all streams; gaussian without any.
    [[nodiscard]] StreamDistribution distribution() const;
    /// Largest number of streams one agent draws a round.
    [[nodiscard]] int streams_per_agent() const;
    /// 2^grid_step_log2.
    [[nodiscard]] double grid_step() const;
    /// F, agents x streams, without `scale`; rows with receiver all_receivers only.
    [[nodiscard]] Eigen::MatrixXd coefficient_matrix() const;
    [[nodiscard]] Digest hash() const;
};

/// Bytes that a file with a plan may have.
inline constexpr std::uint64_t most_plan_bytes = std::uint64_t{1} << 30;

/// Members that all seed groups of a plan may have together: 4 n^2 + 4096 for n agents. All pairs
/// of agents have n^2, all neighbourhoods at most as many; noise of n agents has n^2 covariances.
[[nodiscard]] std::int64_t most_group_members(int agents);

/// Bytes that to_json(NoisePlan) can have at most: of every seed group and stream, every
/// coefficient and every value of the temporal factor, with 24 characters a number.
/// @param agents n.
/// @param coefficients of rows beside those of shared seeds: sum over the agents of the squared
/// size of their closed neighbourhoods, where messages differ by receiver.
/// @param temporal_values of the temporal factor: T^2 where rounds are correlated, else 0.
[[nodiscard]] std::uint64_t largest_plan_bytes(int agents,
                                               double coefficients,
                                               double temporal_values);

/// Largest standard deviation of one coordinate of fresh noise over all rows, the copies that
/// senders keep included; 0 without noise.
[[nodiscard]] double largest_deviation(const NoisePlan& plan);

/// The least step of the grid that all noise of a plan is rounded to: 2^finest_grid_log2 of
/// largest_deviation, so that noise 32 times as large has room for all its bits; 8 times as much
/// for Laplace noise, whose tail is longer.
[[nodiscard]] double finest_grid_step(const NoisePlan& plan);

/// How far the normals of a stream (NormalStream) follow the normal distribution: they are drawn in
/// pairs, and pairs up to this radius are within 2^-44 of a pair drawn without rounding. Beyond,
/// which a pair reaches with probability exp(-tail_radius^2 / 2) = 2^-240, the steps between
/// radii grow, and nothing is claimed of them.
inline constexpr double tail_radius = 18.24035763544053;  // sqrt(2 * 240 * log 2)

/// The words of the file.
inline constexpr NameTable<StreamDistribution, 2> stream_distributions{
    {{{StreamDistribution::gaussian, "gaussian"}, {StreamDistribution::laplace, "laplace"}}}};
inline constexpr NameTable<NoiseEntry, 2> noise_entries{
    {{{NoiseEntry::gradient, "gradient"}, {NoiseEntry::message, "message"}}}};
inline constexpr NameTable<Aggregation, 2> aggregations{
    {{{Aggregation::gossip, "gossip"}, {Aggregation::trusted_mean, "trusted-mean"}}}};

/// JSON text of a plan ("format": "sotto-plan", "version": 1); numbers round-trip exactly.
[[nodiscard]] std::string to_json(const NoisePlan& plan);
/// @throws DataError if the text is not a plan (with the reason), PrivacyError if it is invalid.
[[nodiscard]] NoisePlan plan_from_json(std::string_view text, const std::string& source);

}  // namespace sotto
