#pragma once

#include <Eigen/Dense>
#include <cstddef>
#include <cstdint>
#include <span>

#include "net/network.hpp"
#include "sotto/graph/graph.hpp"

namespace sotto {

// Preconditions that every network checks.

/// @throws Error unless exactly one kind of message is given, of the same kind as `first`, and
/// complete.
void check_outgoing(const Outgoing& outgoing, const Outgoing& first, std::size_t receivers, int u);

/// @throws Error for a graph of another size than the network, or a second call.
void check_connect(const Graph& graph, int agents, bool connected);

/// @throws Error before `connect`, for a wrong number of messages, or an empty dimension.
void check_exchange(bool connected,
                    std::size_t messages,
                    std::size_t agents,
                    Eigen::Index dimension);

/// total[i] = total[i] + values[i], or the larger of the two.
void fold_into(Eigen::Ref<Eigen::VectorXd> total,
               const Eigen::Ref<const Eigen::VectorXd>& values,
               Fold fold);

/// sum[i] += words[i], modulo 2^64.
void add_words(std::span<const std::uint64_t> words, std::span<std::uint64_t> sum);

/// Values per chunk when a message is delivered piece by piece: the whole message up to
/// `largest_whole` values, else equal pieces of whole cache lines, at most `largest_chunk`. Depends
/// on the arguments only, so it is the same on every process.
/// @param largest_chunk a multiple of 8.
[[nodiscard]] Eigen::Index chunk_length(Eigen::Index dimension,
                                        Eigen::Index largest_whole,
                                        Eigen::Index largest_chunk);

/// Values per piece of a message. Messages up to 1 MiB go whole; longer ones in pieces that are
/// still in cache when they are mixed, all in the same small receive buffer. With more than 128
/// messages at once, pieces are smaller: 64 MiB for all, or 128 for whole messages.
/// @param most_messages of any process in one direction.
[[nodiscard]] Eigen::Index piece_length(Eigen::Index dimension, std::size_t most_messages);

}  // namespace sotto
