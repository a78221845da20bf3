#pragma once

#include <Eigen/Dense>
#include <cstddef>

namespace sotto {

/// Values per chunk when a message of `dimension` values is delivered piece by piece: the whole
/// message up to `largest_whole` values, else equal pieces (in whole cache lines) of at most
/// `largest_chunk`. The same on every process, since it depends on the arguments only.
/// @param largest_chunk a multiple of 8.
[[nodiscard]] Eigen::Index chunk_length(Eigen::Index dimension,
                                        Eigen::Index largest_whole,
                                        Eigen::Index largest_chunk);

/// Values per piece of a message. Up to 1 MiB a message goes whole. Above, it goes in pieces that
/// are still in cache when they are mixed, and all pieces use the same small receive buffer. Where
/// a process has more than 128 messages at once, pieces are smaller: 64 MiB for all, or 128 for
/// whole messages. @param most_messages of any process in one direction.
[[nodiscard]] Eigen::Index piece_length(Eigen::Index dimension, std::size_t most_messages);

}  // namespace sotto
