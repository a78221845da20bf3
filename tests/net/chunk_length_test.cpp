#include "net/chunk_length.hpp"

#include <gtest/gtest.h>

namespace sotto {
namespace {

TEST(ChunkLength, CoversEveryDimensionInEqualPiecesOfWholeCacheLines) {
    for (const Eigen::Index whole : {16, 64, 1024})
        for (const Eigen::Index largest : {8, 16, 1024})
            for (Eigen::Index dimension = 1; dimension < 5000; dimension += 7) {
                const Eigen::Index piece = chunk_length(dimension, whole, largest);
                if (dimension <= whole) {
                    EXPECT_EQ(piece, dimension);
                    continue;
                }
                EXPECT_GT(piece, 0);
                EXPECT_LE(piece, largest);
                EXPECT_EQ(piece % 8, 0);
                // No more pieces than the largest length needs.
                EXPECT_EQ((dimension + piece - 1) / piece, (dimension + largest - 1) / largest)
                    << dimension << ' ' << largest;
            }
}

TEST(PieceLength, IsTheWholeMessageUpToAMebibyteAndAtMostHalfOfItAbove) {
    EXPECT_EQ(piece_length(1, 1), 1);
    EXPECT_EQ(piece_length(131072, 0), 131072);
    EXPECT_EQ(piece_length(131072, 128), 131072);
    EXPECT_LE(piece_length(131073, 5), 65536);
    EXPECT_EQ(piece_length(Eigen::Index{1} << 40, 1), 65536);
}

TEST(PieceLength, IsSmallerWhereManyMessagesComeAtOnce) {
    for (const std::size_t messages : {1000, 30000, 120000}) {
        const Eigen::Index piece = piece_length(Eigen::Index{1} << 40, messages);
        EXPECT_EQ(piece % 8, 0);
        EXPECT_LE(static_cast<std::size_t>(piece) * messages * 8, std::size_t{1} << 26);
        EXPECT_LE(static_cast<std::size_t>(piece_length(2 * piece, messages)) * messages * 8,
                  std::size_t{1} << 27);
    }
    EXPECT_EQ(piece_length(Eigen::Index{1} << 40, 1000000000), 64);
}

}  // namespace
}  // namespace sotto
