#pragma once

#include <Eigen/Core>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sotto {

/// What "neighbouring" means, hence the L2 sensitivity Delta of one participation.
enum class Adjacency {
    agent,             ///< all data of one agent replaced: Delta = 2C (batch gradient clipped to C)
    agent_zero_out,    ///< one agent's contribution zeroed: Delta = C
    record,            ///< one record replaced: Delta = 2C/B (each record's gradient clipped to C)
    record_zero_out,   ///< one record's contribution zeroed: Delta = C/B
    record_add_remove  ///< one record added or removed, divisor B unchanged: Delta = C/B
};
[[nodiscard]] std::vector<std::string> adjacency_names();
[[nodiscard]] Adjacency parse_adjacency(std::string_view option, std::string_view text);
[[nodiscard]] std::string name_of(Adjacency adjacency);
/// Whether all data of an agent are protected at once, and its contribution is clipped; else one
/// record, and every record's.
[[nodiscard]] bool protects_agents(Adjacency adjacency);

/// In which rounds one record (or agent) can take part: all rounds, or one round in every cycle of
/// `cycle` rounds.
struct Participation {
    long cycle = 1;  ///< 1: every round
    /// In the rounds in which a record can take part, it does so with the same probability, decided
    /// by a coin that nobody but its agent knows (SecretCoins).
    bool poisson = false;
    [[nodiscard]] bool operator==(const Participation&) const = default;
};
/// "every", "cyclic:b", "poisson" or "cyclic-poisson:b". @throws ConfigError.
[[nodiscard]] Participation parse_participation(std::string_view option, std::string_view text);
[[nodiscard]] std::string name_of(const Participation& participation);

/// The largest b of "cyclic-poisson:b" of an agent: b q_u is at most 1, q_u = B / N_u, or as given
/// where the records are unknown (0). At least 1. @param batch_size from 1 to `records`.
[[nodiscard]] long largest_sampled_cycle(Eigen::Index batch_size,
                                         Eigen::Index records,
                                         std::optional<double> sampling_probability);

/// How much of one agent's input its messages can carry.
struct Exposure {
    double sensitivity = 0;  ///< Delta_u, one participation [gradient unit]; L1 under Laplace noise
    /// run_sensitivity_squared of the whole run; T where every round counts and none meets another.
    double sensitivity_squared_over_rounds = 0;
    Eigen::Index batch_size =
        0;  ///< divisor of the clipped sum (record adjacencies); 0: unknown (adjacency agent)
    /// b q_u of Poisson sampling, a multiple of 2^-53: of a record (or agent) in a round in which
    /// it can take part; 1: it is there whenever it can be.
    double sampling_probability = 1;
};

/// @param clip_norm C > 0.  @param records N_u of the agent, or 0 if unknown (then only
/// `batch_size` counts).  @param batch_size B; none: all N_u records of the agent. It changes no
/// sensitivity with adjacency `agent`, and is replaced by B_u = ceil(N_u/b) with cyclic
/// participation and known records. With Poisson sampling B is the expected size of a batch, and
/// its divisor whatever is drawn: q_u = B / N_u, and records are drawn with b q_u, rounded down to
/// a multiple of 2^-53, from one of b parts in turn.
/// With Poisson sampling and adjacency agent_zero_out the agent takes part with probability q, and
/// adds its clipped gradient over q: Delta = C / q.
/// @param sampling_probability q_u of Poisson sampling where the records are unknown; of agents q,
/// rounded down likewise.
/// @throws ConfigError: adjacencies of agents with cyclic participation; Poisson sampling where
///         data are replaced (no dominating pair is proved for it), and where b q_u would
///         exceed 1; batch larger than the
///         records of a record adjacency; more batches than records; a record adjacency where both
///         batch and records are unknown.
[[nodiscard]] Exposure agent_exposure(Adjacency adjacency,
                                      const Participation& participation,
                                      double clip_norm,
                                      long rounds,
                                      Eigen::Index records,
                                      std::optional<Eigen::Index> batch_size,
                                      std::optional<double> sampling_probability = std::nullopt);

}  // namespace sotto
