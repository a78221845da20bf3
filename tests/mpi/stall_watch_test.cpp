// Under mpiexec, any number of ranks. Every rank calls every collective, so nothing between
// collectives may leave a test early: EXPECT only.

#include "net/stall_watch.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "mpi/mpi_main.hpp"

namespace {

std::atomic<long> own_yields{0};

/// Of the program or library that an address is in.
const void* base_of(const void* address) {
    Dl_info info;
    return ::dladdr(address, &info) != 0 ? info.dli_fbase : nullptr;
}

}  // namespace

/// Instead of the C library's. Counts calls of the program itself; some MPI libraries yield, too.
extern "C" int sched_yield() noexcept {
    if (base_of(__builtin_return_address(0)) == base_of(&own_yields)) ++own_yields;
    return static_cast<int>(::syscall(SYS_sched_yield));
}

namespace sotto {
namespace {

TEST(StallWatch, SaysWhoKeepsTheOthersWaitingAndGoesOn) {
    const auto network = test::mpi_network();
    std::vector<std::string> lines;
    network->watch_for_stalls(
        {0.3, 60, "a limit", [&](const std::string& line) { lines.push_back(line); }});
    const bool leader = network->process() == 0;
    const auto late = [&] {
        if (leader) std::this_thread::sleep_for(std::chrono::milliseconds(2500));
        EXPECT_EQ(network->maximum(leader ? 7 : 3), 7);
    };
    late();
    // The first that waits speaks for all.
    if (network->process() != 1) {
        EXPECT_TRUE(lines.empty());
    } else {
        EXPECT_GE(lines.size(), 2u);
        EXPECT_NE(lines.front().find("no answer from rank 0"), std::string::npos) << lines.front();
        EXPECT_NE(lines.back().find("goes on"), std::string::npos) << lines.back();
    }
    // Waiting as long as it takes again: what follows the rounds may take one of them long.
    network->watch_for_stalls({0.1, 0.5, "a limit", [&](const std::string&) {}});
    network->watch_for_stalls({});
    late();
    // Questions that were asked late disturb nothing.
    EXPECT_EQ(network->all_gather("a", most_line_bytes).size(),
              static_cast<std::size_t>(network->processes()));
}

/// A barrier that rank 0 enters late; what waiting for it throws.
std::string late_barrier(StallWatch& watch, const StallWatch::Place& place, double seconds) {
    const int rank = test::mpi_session().rank();
    if (rank == 0) std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    MPI_Request request = MPI_REQUEST_NULL;
    const int begun = MPI_Ibarrier(MPI_COMM_WORLD, &request);
    try {
        EXPECT_EQ(watch.complete(begun, request, place), MPI_SUCCESS);
    } catch (const NetworkError& error) {
        MPI_Wait(&request, MPI_STATUS_IGNORE);  // rank 0 comes after all
        return error.what();
    }
    return {};
}

TEST(StallWatch, GivesUpNamingPlaceLimitAndWhoDoesNotAnswer) {
    StallWatch watch(MPI_COMM_WORLD);
    watch.set({0, 1, "--stall-abort 1", [](const std::string&) {}});
    const std::string thrown = late_barrier(watch, {7, 2, 0}, 4.5);
    if (test::mpi_session().rank() == 0) {
        EXPECT_EQ(thrown, "");
        return;
    }
    for (const char* part : {"round 7, gossip step 2", "--stall-abort 1", "no answer from rank 0"})
        EXPECT_NE(thrown.find(part), std::string::npos) << thrown;
}

TEST(StallWatch, WithoutLimitsWaitsAndSaysNothing) {
    StallWatch watch(MPI_COMM_WORLD);
    std::vector<std::string> lines;
    watch.set({0, 0, "", [&](const std::string& line) { lines.push_back(line); }});
    EXPECT_EQ(late_barrier(watch, {}, 0.5), "");
    EXPECT_TRUE(lines.empty());
}

TEST(StallWatch, LeavesItsCoreToOthersWhileItWaits) {
    StallWatch watch(MPI_COMM_WORLD);
    const long before = own_yields;
    EXPECT_EQ(late_barrier(watch, {}, 2), "");
    if (test::mpi_session().rank() != 0) {
        EXPECT_GT(own_yields - before, 5);
    }
}

/// Answers nobody until the others have warned; then their requests fail.
TEST(StallWatch, DoesNotSayThatARoundGoesOnWhoseRequestFailed) {
    StallWatch watch(MPI_COMM_WORLD);
    MPI_Request request = MPI_REQUEST_NULL;
    EXPECT_EQ(MPI_Grequest_start([](void*, MPI_Status*) { return MPI_ERR_OTHER; },
                                 [](void*) { return MPI_SUCCESS; },
                                 [](void*, int) { return MPI_SUCCESS; },
                                 nullptr,
                                 &request),
              MPI_SUCCESS);
    std::vector<std::string> lines;
    MPI_Request failing = request;
    watch.set({0.2, 0, "", [&](const std::string& line) {
                   lines.push_back(line);
                   MPI_Grequest_complete(failing);
               }});
    if (test::mpi_session().rank() == 1) {
        EXPECT_EQ(watch.complete(MPI_SUCCESS, request, {3, 0, 0}), MPI_ERR_OTHER);
        EXPECT_EQ(lines.size(), 1U);
        EXPECT_NE((lines.empty() ? std::string() : lines[0]).find("no answer from rank 0"),
                  std::string::npos);
    } else {
        std::this_thread::sleep_for(std::chrono::seconds(2));
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

TEST(StallWatch, GivesBackTheCodeOfACallThatFailed) {
    StallWatch watch(MPI_COMM_WORLD);
    MPI_Request request = MPI_REQUEST_NULL;
    EXPECT_EQ(watch.complete(MPI_ERR_COUNT, request, {}), MPI_ERR_COUNT);
}

}  // namespace
}  // namespace sotto
