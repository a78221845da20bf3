#include "chunk_length.hpp"

#include <algorithm>

namespace sotto {

Eigen::Index chunk_length(Eigen::Index dimension,
                          Eigen::Index largest_whole,
                          Eigen::Index largest_chunk) {
    if (dimension <= largest_whole) return dimension;
    constexpr Eigen::Index line = 8;  // values in a cache line
    const Eigen::Index chunks = (dimension + largest_chunk - 1) / largest_chunk;
    const Eigen::Index equal = (dimension + chunks - 1) / chunks;
    return std::min(largest_chunk, (equal + line - 1) / line * line);
}

}  // namespace sotto
