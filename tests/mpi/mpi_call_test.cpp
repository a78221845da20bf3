#include "net/mpi_call.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

#include "core/test_support.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

TEST(CheckMpi, NamesTheCallAndTheReason) {
    EXPECT_NO_THROW(check_mpi(MPI_SUCCESS, "MPI_Test"));
    EXPECT_EQ(test::message_of<NetworkError>([] { check_mpi(MPI_ERR_COUNT, "MPI_Ibcast"); }),
              "MPI_Ibcast failed: " + mpi_error_text(MPI_ERR_COUNT));
    EXPECT_NE(mpi_error_text(MPI_ERR_COUNT), mpi_error_text(MPI_ERR_RANK));
}

TEST(MpiCount, IsOfAnIntOrRefused) {
    constexpr int most = std::numeric_limits<int>::max();
    EXPECT_EQ(mpi_count(std::size_t{0}), 0);
    EXPECT_EQ(mpi_count(std::int64_t{most}), most);
    EXPECT_THROW((void)mpi_count(std::int64_t{most} + 1), NetworkError);
    EXPECT_THROW((void)mpi_count(std::numeric_limits<std::uint64_t>::max()), NetworkError);
}

}  // namespace
}  // namespace sotto
