#pragma once

#include <Eigen/Core>

#include "sotto/net/network.hpp"

namespace sotto {

/// What decides how many parameters a model has.
struct DataSizes {
    Eigen::Index features = 0;
    Eigen::Index classes = 0;
};

/// The largest of all processes, which models of all agents have. COLLECTIVE.
/// @param own of the agents of this process.
/// @throws NetworkError, the same on every process, naming the rank whose sizes are more than 16
/// times this process's own, and more than 2^20 features or 1024 classes: otherwise any peer could
/// make all others take whatever memory it likes.
[[nodiscard]] DataSizes largest_sizes(Network& network, const DataSizes& own);

}  // namespace sotto
