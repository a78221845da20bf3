#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.hpp"
#include "sotto/agent/trainer.hpp"
#include "sotto/net/network.hpp"
#include "sotto/plan/membership.hpp"

namespace sotto {

/// What others may be told of the time a process spent on the parts of a round: nothing where that
/// of a gradient says how many records a secretly sampled batch has. (Rounds are as long for all,
/// so any part says it.) @param processes of the job; a single one has nobody to tell.
[[nodiscard]] std::optional<RoundSeconds> seconds_to_tell(const RoundSeconds& seconds,
                                                          const TrainConfig& config,
                                                          int processes);

/// What others may be told of the most memory a process has used: nothing where batches are
/// sampled secretly, since gradients of large models take memory record by record. Padding
/// (--pad-rounds) makes rounds as long, and never as large.
[[nodiscard]] std::optional<double> memory_to_tell(double peak_mib,
                                                   const TrainConfig& config,
                                                   int processes);

/// What one process did in the rounds of this start.
struct RankFigures {
    std::string host;
    std::vector<int> agents;                ///< numbers, ascending
    std::optional<RoundSeconds> seconds;    ///< see seconds_to_tell
    std::int64_t bytes_sent = 0;            ///< by its agents
    std::optional<double> peak_memory_mib;  ///< see memory_to_tell
};

/// Of this process, now. LOCAL. @param seconds of its rounds.
[[nodiscard]] RankFigures own_figures(const Network& network,
                                      const Membership& members,
                                      const RoundSeconds& seconds,
                                      const TrainConfig& config);

[[nodiscard]] std::string to_bytes(const RankFigures& figures);
/// @throws NetworkError naming the rank for figures that are none.
[[nodiscard]] RankFigures rank_figures_from_bytes(std::string_view bytes, std::size_t rank);

/// What every process did in the rounds, and what follows for the whole job.
struct JobFigures {
    std::vector<RankFigures> ranks;         ///< of every process
    std::optional<RoundSeconds> phases;     ///< average over processes, where all tell
    std::int64_t bytes_sent = 0;            ///< by all agents
    std::optional<double> peak_memory_mib;  ///< largest process, where all tell
};
/// The same on every process. COLLECTIVE. @throws NetworkError naming the rank, the same
/// everywhere.
[[nodiscard]] JobFigures gather_figures(Network& network, const RankFigures& own);

}  // namespace sotto
