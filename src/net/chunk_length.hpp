#pragma once

#include <Eigen/Dense>

namespace sotto {

/// Values per chunk when a message of `dimension` values is delivered piece by piece: the whole
/// message up to `largest_whole` values, else equal pieces (in whole cache lines) of at most
/// `largest_chunk`. The same on every process, since it depends on the arguments only.
/// @param largest_chunk a multiple of 8.
[[nodiscard]] Eigen::Index chunk_length(Eigen::Index dimension,
                                        Eigen::Index largest_whole,
                                        Eigen::Index largest_chunk);

}  // namespace sotto
