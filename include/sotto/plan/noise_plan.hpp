#pragma once

#include <Eigen/Dense>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "sotto/core/hash.hpp"
#include "sotto/core/names.hpp"

namespace sotto {

/// Distribution of one coordinate of a stream: normal with variance 1, or Laplace with scale 1.
enum class StreamDistribution { gaussian, laplace };
/// Variance of one coordinate.
[[nodiscard]] constexpr double unit_variance(StreamDistribution distribution) {
    return distribution == StreamDistribution::laplace ? 2 : 1;
}

/// Agents that hold one seed. Several streams may derive from it.
struct SeedGroup {
    std::vector<int> members;  ///< ascending, not empty
};

/// One source of random vectors.
struct NoiseStream {
    int group = 0;            ///< group of its seed: exactly the agents that can compute it
    std::uint64_t index = 0;  ///< number of the stream within its group
    StreamDistribution distribution = StreamDistribution::gaussian;
};

/// Noise that one sender adds for one class of receivers: sum over j of coefficients[j]
/// z_{streams[j]}.
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

/// Smallest grid step, log2, in units of the largest standard deviation of noise.
inline constexpr int finest_grid_log2 = -46;

/// The common model of all mechanisms (docs/equations.md#noise-plans): a temporal factor, random
/// streams, seed holders, and the coefficient of each stream for each agent:
///
///     v_u(t) = scale * sum_s (C_time^-1)_ts sum_k F_uk z_k(s),     R = scale^2 F F^T.
///
/// The grid step is at least finest_grid_step. Trainer, accountant and audit use the plan alone and
/// know no mechanism by name; `mechanism` is a label for people.
struct NoisePlan {
    std::string mechanism;
    int agents = 0;
    double scale = 0;        ///< [gradient unit]; 0 exactly when there are no streams
    int coalition_size = 0;  ///< q: the plan protects against every coalition of q agents
    int grid_step_log2 = 0;  ///< noise and gradients are multiples of 2^grid_step_log2
    TemporalFactor temporal;
    NoiseEntry entry = NoiseEntry::gradient;
    Aggregation aggregation = Aggregation::gossip;
    std::vector<SeedGroup> groups;
    std::vector<NoiseStream> streams;
    std::vector<NoiseRow> rows;  ///< ascending by (sender, receiver)

    /// Checks every invariant above, and that each sender holds the seeds of its streams.
    /// @throws PrivacyError naming what is wrong. A plan that passes can be trained with.
    void validate() const;
    /// True if no noise is added.
    [[nodiscard]] bool noiseless() const { return streams.empty(); }
    /// True if every sender sends the same message to all receivers.
    [[nodiscard]] bool same_message_to_all() const;
    /// Of all streams; gaussian if there are none.
    [[nodiscard]] StreamDistribution distribution() const;
    /// Largest number of streams one agent draws in a round.
    [[nodiscard]] int streams_per_agent() const;
    /// 2^grid_step_log2.
    [[nodiscard]] double grid_step() const;
    /// F, agents x streams, without `scale`; rows with receiver all_receivers only.
    [[nodiscard]] Eigen::MatrixXd coefficient_matrix() const;
    [[nodiscard]] Digest hash() const;
};

/// Largest size of a plan file in bytes.
inline constexpr std::uint64_t most_plan_bytes = std::uint64_t{1} << 30;

/// Largest total number of members of all seed groups: 4 n^2 + 4096 for n agents. All pairs of
/// agents have n^2, all neighbourhoods at most as many; noise of n agents has n^2 covariances.
[[nodiscard]] std::int64_t most_group_members(int agents);

/// Upper bound on the bytes of to_json(NoisePlan), with 24 characters a number.
/// @param agents n.
/// @param coefficients of rows besides those of shared seeds: sum over the agents of the squared
/// size of their closed neighbourhoods, if messages differ by receiver.
/// @param temporal_values of the temporal factor: T^2 if rounds are correlated, else 0.
[[nodiscard]] std::uint64_t largest_plan_bytes(int agents,
                                               double coefficients,
                                               double temporal_values);

/// Largest standard deviation of one coordinate of fresh noise over all rows, including senders'
/// own copies; 0 without noise.
[[nodiscard]] double largest_deviation(const NoisePlan& plan);

/// The plan with `factor` > 0 times the noise, on a grid that is at least as fine beside it, by
/// less than a factor of 2 finer.
[[nodiscard]] NoisePlan scaled(NoisePlan plan, double factor);

/// The plan without the terms of streams that are not wanted: what somebody who holds some seeds
/// knows of everybody's noise. It need not pass validate().
[[nodiscard]] NoisePlan with_streams(NoisePlan plan, const std::function<bool(int stream)>& wanted);

/// Smallest grid step for the noise of a plan: 2^finest_grid_log2 of largest_deviation, so that
/// noise 32 times as large keeps all its bits; 8 times that step for Laplace noise, whose tail is
/// longer.
[[nodiscard]] double finest_grid_step(const NoisePlan& plan);

/// Radius up to which the normals of a stream (NormalStream), drawn in pairs, are within 2^-44 of a
/// pair drawn without rounding. A pair exceeds it with probability exp(-tail_radius^2 / 2) =
/// 2^-240; beyond it nothing is claimed.
inline constexpr double tail_radius = 18.24035763544053;  // sqrt(2 * 240 * log 2)

/// Names in the file.
inline constexpr NameTable<StreamDistribution, 2> stream_distributions{
    {{{StreamDistribution::gaussian, "gaussian"}, {StreamDistribution::laplace, "laplace"}}}};
inline constexpr NameTable<NoiseEntry, 2> noise_entries{
    {{{NoiseEntry::gradient, "gradient"}, {NoiseEntry::message, "message"}}}};
inline constexpr NameTable<Aggregation, 2> aggregations{
    {{{Aggregation::gossip, "gossip"}, {Aggregation::trusted_mean, "trusted-mean"}}}};

/// JSON of a plan ("format": "sotto-plan", "version": 1); numbers round-trip exactly.
[[nodiscard]] std::string to_json(const NoisePlan& plan);
/// @throws DataError with the reason if the text is not a plan, PrivacyError if the plan is
/// invalid.
[[nodiscard]] NoisePlan plan_from_json(std::string_view text, const std::string& source);

}  // namespace sotto
