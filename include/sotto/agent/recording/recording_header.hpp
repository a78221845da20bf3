#pragma once

#include <Eigen/Dense>
#include <cstdint>
#include <string>
#include <vector>

#include "sotto/graph/graph.hpp"
#include "sotto/plan/noise_plan.hpp"

namespace sotto {

/// The constant part of every recording of an agent (docs/recorded-view.md).
struct RecordingHeader {
    int agent = 0;
    int agents = 0;
    Eigen::Index dimension = 0;
    std::vector<int> neighbours;  ///< ascending
    /// Receivers of the agent's own messages, in the order of the columns that hold them:
    /// NoiseRow::all_receivers alone, or one by one, ascending.
    std::vector<int> outputs;
    int gossip_steps = 1;  ///< K: records a round
    std::uint32_t key_epoch = 0;
    std::string plan_hash;  ///< hexadecimal

    /// Place of a receiver's message among the outputs; -1 where none is for it.
    [[nodiscard]] Eigen::Index column_of(int receiver) const;
};

/// What an agent's recordings of a training begin with; where the plan has noise for single
/// receivers, the agent itself is among the outputs.
[[nodiscard]] RecordingHeader recording_header(int agent,
                                               const Graph& graph,
                                               const NoisePlan& plan,
                                               Eigen::Index dimension,
                                               int gossip_steps,
                                               std::uint32_t key_epoch);

}  // namespace sotto
