// Under mpiexec, any number of ranks. Every rank calls every collective, so nothing between
// collectives may leave a test early: EXPECT only.

#include "net/mpi/world.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>

#include "core/test_support.hpp"
#include "mpi/mpi_main.hpp"

namespace sotto {
namespace {

using test::message_of;

TEST(MpiWorld, IsOfAllRanksAndApartFromOthers) {
    MpiWorld world, other;
    EXPECT_EQ(world.ranks(), test::mpi_session().ranks());
    EXPECT_EQ(world.rank(), test::mpi_session().rank());
    int result = MPI_IDENT;
    MPI_Comm_compare(world.communicator(), other.communicator(), &result);
    EXPECT_EQ(result, MPI_CONGRUENT);
}

TEST(MpiWorld, CompletesWhatWasBegun) {
    MpiWorld world;
    int sum = 0;
    const int one = 1;
    world.complete("MPI_Iallreduce", [&](MPI_Request* request) {
        return MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, world.communicator(), request);
    });
    EXPECT_EQ(sum, world.ranks());
    MPI_Request begun = MPI_REQUEST_NULL;
    MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_MAX, world.communicator(), &begun);
    world.finish("MPI_Iallreduce", begun);
    EXPECT_EQ(sum, 1);
}

TEST(MpiWorld, NamesTheCallOrTheExchangeThatFailed) {
    MpiWorld world;
    const auto fail = [](MPI_Request*) { return MPI_ERR_OTHER; };
    EXPECT_EQ(message_of<NetworkError>([&] { world.complete("MPI_Ibcast", fail); }),
              "MPI_Ibcast failed: " + mpi_error_text(MPI_ERR_OTHER));
    EXPECT_EQ(message_of<NetworkError>([&] {
                  world.complete_exchange({12, 3}, {}, fail);
              }),
              "exchange of rank " + std::to_string(world.rank()) +
                  " in round 12, step 3 failed: " + mpi_error_text(MPI_ERR_OTHER));
}

TEST(MpiWorld, WorksWhileAnExchangeWaitsAndAsLongAsThereIsWork) {
    MpiWorld world;
    int done = 0;
    const auto late_exchange = [&](int pieces) {
        done = 0;
        world.work_while_waiting([&done, pieces] { return ++done < pieces; });
        if (world.rank() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(300));
        world.complete_exchange({1, 0}, {}, [&](MPI_Request* request) {
            return MPI_Ibarrier(world.communicator(), request);
        });
    };
    late_exchange(3);
    if (world.rank() != 0) {
        EXPECT_EQ(done, 3);
    }
    // None is left for the next one.
    if (world.rank() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(100));
    world.complete_exchange({1, 1}, {}, [&](MPI_Request* request) {
        return MPI_Ibarrier(world.communicator(), request);
    });
    EXPECT_LE(done, 3);
    late_exchange(1'000'000'000);
    if (world.rank() != 0) {
        EXPECT_GT(done, 3);
    }
    // Other calls do none of it.
    done = 0;
    int sum = 0;
    const int one = 1;
    if (world.rank() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(100));
    world.complete("MPI_Iallreduce", [&](MPI_Request* request) {
        return MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, world.communicator(), request);
    });
    EXPECT_EQ(done, 0);
}

TEST(MpiWorld, IsNotOrderlyWhileAnExceptionUnwindsIt) {
    struct Witness {
        const MpiWorld& world;
        bool& orderly;
        ~Witness() { orderly = world.orderly(); }
    };
    MpiWorld world;
    bool orderly = false;
    { const Witness witness{world, orderly}; }
    EXPECT_TRUE(orderly);
    try {
        const Witness witness{world, orderly};
        throw std::runtime_error("the other ranks do not know of this");
    } catch (const std::runtime_error&) {
        EXPECT_FALSE(orderly);
    }
}

}  // namespace
}  // namespace sotto
