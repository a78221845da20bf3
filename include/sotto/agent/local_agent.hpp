#pragma once

#include <Eigen/Dense>
#include <memory>

#include "sotto/agent/batch_padding.hpp"
#include "sotto/learn/batches.hpp"
#include "sotto/learn/objective.hpp"

namespace sotto {

/// One agent of this process: its data and where it is in them.
struct LocalAgent {
    int id = 0;  ///< its place in network, graph and plan
    std::unique_ptr<Objective> objective;
    BatchSampler batches;
    Eigen::Index batch_size = 1;  ///< B_u: divisor of a sum of clipped record gradients
    int number = id;              ///< its number in the run (membership.hpp)
    BatchPadding padding{};
};

}  // namespace sotto
