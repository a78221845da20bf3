// Under mpiexec, any number of ranks. Every rank calls every collective, so nothing between
// collectives may leave a test early: EXPECT only.

#include <gtest/gtest.h>

#include <optional>

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

/// A parameter of Open MPI; nothing under another MPI.
std::optional<std::size_t> open_mpi_size(const char* name) {
    int provided = 0, index = 0, count = 0;
    std::optional<std::size_t> value;
    if (MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) != MPI_SUCCESS) return value;
    if (MPI_T_cvar_get_index(name, &index) == MPI_SUCCESS) {
        MPI_T_cvar_handle handle{};
        EXPECT_EQ(MPI_T_cvar_handle_alloc(index, nullptr, &handle, &count), MPI_SUCCESS);
        EXPECT_EQ(MPI_T_cvar_read(handle, &value.emplace()), MPI_SUCCESS);
        MPI_T_cvar_handle_free(&handle);
    }
    MPI_T_finalize();
    return value;
}

TEST(MpiSession, LetsOpenMpiSendPiecesOfModelsOverTcpWithoutAnnouncingThem) {
    const auto limit = open_mpi_size("btl_tcp_eager_limit");
    EXPECT_EQ(limit.value_or(most_sent_at_once), most_sent_at_once);
}

TEST(MpiSession, HasErrorsOfMpiReturned) {
    EXPECT_NE(MPI_Send(nullptr, -1, MPI_INT, 0, 0, MPI_COMM_WORLD), MPI_SUCCESS);
}

}  // namespace
}  // namespace sotto
