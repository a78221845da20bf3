#pragma once

#include <vector>

#include "sotto/core/hash.hpp"
#include "sotto/graph/graph.hpp"
#include "sotto/graph/mixing.hpp"
#include "sotto/graph/mixing_schedule.hpp"

namespace sotto {

/// Graph and mixing: public, the same in every process.
struct Topography {
    Graph graph;
    MixingMatrix mixing;                       ///< of round 0; of all rounds without later_mixing
    std::vector<MixingMatrix> later_mixing{};  ///< of rounds 1, 2, ... of one period
    [[nodiscard]] MixingSchedule schedule() const;
    /// mixing.hash() without later_mixing, otherwise schedule().hash().
    [[nodiscard]] Digest mixing_hash() const;
};

}  // namespace sotto
