#pragma once

#include <Eigen/Dense>
#include <cstddef>
#include <cstdint>
#include <span>

#include "net/network.hpp"
#include "sotto/graph/graph.hpp"

namespace sotto {

// What every network asks of its callers.

/// @throws Error unless exactly one kind of message is given, of the same kind as `first`, and
///         complete.
void check_outgoing(const Outgoing& outgoing, const Outgoing& first, std::size_t receivers, int u);

/// @throws Error for a graph of another size than the network, or a second call.
void check_connect(const Graph& graph, int agents, bool connected);

/// @throws Error before `connect`, for a wrong number of messages, or an empty dimension.
void check_exchange(bool connected,
                    std::size_t messages,
                    std::size_t agents,
                    Eigen::Index dimension);

// How the values of several agents become one.

/// total[i] = total[i] + values[i], or the larger of the two.
void fold_into(Eigen::Ref<Eigen::VectorXd> total,
               const Eigen::Ref<const Eigen::VectorXd>& values,
               Fold fold);

/// sum[i] += words[i], modulo 2^64.
void add_words(std::span<const std::uint64_t> words, std::span<std::uint64_t> sum);

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
