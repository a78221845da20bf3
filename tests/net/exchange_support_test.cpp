#include "net/exchange_support.hpp"

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

TEST(FailureStatus, IsNeverZero) {
    EXPECT_EQ(failure_status(ExitCode::ok), 1);
    EXPECT_EQ(failure_status(ExitCode::other), 1);
    EXPECT_EQ(failure_status(ExitCode::audit), 6);
}

TEST(ThrowError, ThrowsTheClassOfTheExitCode) {
    EXPECT_THROW(throw_error(ExitCode::usage, "x"), ConfigError);
    EXPECT_THROW(throw_error(ExitCode::data, "x"), DataError);
    EXPECT_THROW(throw_error(ExitCode::privacy, "x"), PrivacyError);
    EXPECT_THROW(throw_error(ExitCode::network, "x"), NetworkError);
    for (const ExitCode code : {ExitCode::other, ExitCode::audit, ExitCode::ok}) try {
            throw_error(code, "what went wrong");
        } catch (const Error& error) {
            EXPECT_STREQ(error.what(), "what went wrong");
            EXPECT_EQ(error.exit_code(), code == ExitCode::ok ? ExitCode::other : code);
        }
}

}  // namespace
}  // namespace sotto
