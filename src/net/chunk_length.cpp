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

Eigen::Index piece_length(Eigen::Index dimension, std::size_t most_messages) {
    constexpr Eigen::Index values_of_all = Eigen::Index{1} << 23;
    constexpr Eigen::Index smallest_piece = 64, largest_piece = 65536;
    const auto messages = std::max<Eigen::Index>(1, static_cast<Eigen::Index>(most_messages));
    const Eigen::Index piece =
        std::clamp(values_of_all / messages / 8 * 8, smallest_piece, largest_piece);
    return chunk_length(dimension, 2 * piece, piece);
}

}  // namespace sotto
