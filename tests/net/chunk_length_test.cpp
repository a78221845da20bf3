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

}  // namespace
}  // namespace sotto
