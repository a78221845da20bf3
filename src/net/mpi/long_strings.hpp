#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "net/mpi_call.hpp"

namespace sotto {

/// Counts of MPI are int, so longer strings go in parts of this size.
inline constexpr std::size_t largest_transfer_bytes = std::size_t{1} << 30;

/// Call before allocating for what another process announces.
/// @throws NetworkError naming the rank, what it announced, and the limit.
void check_announced(std::uint64_t bytes, std::uint64_t most_bytes, int rank);

/// Calls transfer(first byte, count) for every part of a string of `size` bytes.
template <class Transfer>
void in_parts(std::size_t size, Transfer&& transfer) {
    for (std::size_t first = 0; first < size; first += largest_transfer_bytes)
        transfer(first, mpi_count(std::min(largest_transfer_bytes, size - first)));
}

}  // namespace sotto
