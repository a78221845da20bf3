// Under mpiexec, any number of ranks. Every rank calls every collective, so nothing between
// collectives may leave a test early: EXPECT only.

#include <gtest/gtest.h>

#include "mpi/mpi_main.hpp"
#include "net/mpi_call.hpp"

namespace sotto {
namespace {

TEST(MpiSession, KnowsItsPlaceAmongTheRanks) {
    int ranks = 0, rank = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    EXPECT_EQ(test::mpi_session().ranks(), ranks);
    EXPECT_EQ(test::mpi_session().rank(), rank);
}

TEST(MpiSession, NamesLibraryAndHostInOneLine) {
    EXPECT_FALSE(MpiSession::library_version().empty());
    EXPECT_EQ(MpiSession::library_version().find('\n'), std::string::npos);
    EXPECT_FALSE(MpiSession::host_name().empty());
}

TEST(MpiSession, InsideAnotherLeavesMpiRunning) {
    {
        const MpiSession inner;
        EXPECT_EQ(inner.ranks(), test::mpi_session().ranks());
        EXPECT_EQ(inner.rank(), test::mpi_session().rank());
    }
    int finalized = 1;
    MPI_Finalized(&finalized);
    EXPECT_EQ(finalized, 0);
    EXPECT_EQ(MPI_Barrier(MPI_COMM_WORLD), MPI_SUCCESS);
}

TEST(MpiSession, HasErrorsOfMpiReturned) {
    EXPECT_NE(MPI_Send(nullptr, -1, MPI_INT, 0, 0, MPI_COMM_WORLD), MPI_SUCCESS);
}

}  // namespace
}  // namespace sotto
