// Under mpiexec, any number of ranks. Every rank calls every collective, so nothing between
// collectives may leave a test early: EXPECT only.

#include "net/agreement.hpp"

#include <gtest/gtest.h>

#include <string>

#include "core/test_support.hpp"
#include "mpi/mpi_main.hpp"

namespace sotto {
namespace {

using test::message_of;

TEST(SameEverywhere, NamesTheLowestRankThatDiffersOnEveryRank) {
    const auto network = test::mpi_network();
    const int n = network->processes();
    const auto describe = [](std::size_t rank, const std::string& theirs, const std::string& ours) {
        return std::to_string(rank) + " holds " + theirs + ", not " + ours;
    };
    EXPECT_NO_THROW(require_same_everywhere(*network, "all the same", describe));
    for (int lowest = 1; lowest < n; ++lowest) {
        const int rank = network->process();
        const std::string own = rank >= lowest ? "value " + std::to_string(rank) : "the value";
        EXPECT_EQ(
            message_of<NetworkError>([&] { require_same_everywhere(*network, own, describe); }),
            std::to_string(lowest) + " holds value " + std::to_string(lowest) + ", not the value");
    }
}

TEST(SameOptions, NamesTheFirstOptionThatDiffers) {
    const auto network = test::mpi_network();
    EXPECT_NO_THROW(require_same_options(*network, "--seed 1\n--rounds 2\n"));
    if (network->processes() == 1) return;
    const int last = network->processes() - 1;
    const std::string options = network->process() == last ? "--seed 1\n--rounds 3\n--l2 7\n"
                                                           : "--seed 1\n--rounds 2\n--l2 0\n";
    EXPECT_EQ(message_of<NetworkError>([&] { require_same_options(*network, options); }),
              "rank " + std::to_string(last) +
                  " was started with --rounds 3, rank 0 with --rounds 2; start all ranks with the "
                  "same options");
}

}  // namespace
}  // namespace sotto
