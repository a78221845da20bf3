// Under mpiexec, any number of ranks. Every rank calls every collective, so nothing between
// collectives may leave a test early: EXPECT only.

#include <gtest/gtest.h>

#include <string>

#include "core/test_support.hpp"
#include "mpi/mpi_main.hpp"
#include "mpi/string_samples.hpp"

namespace sotto {
namespace {

TEST(AllGather, GivesTheStringsOfAllProcessesInTheirOrder) {
    const auto network = test::mpi_network();
    for (int kind = 0; kind < test::string_kinds; ++kind)
        EXPECT_TRUE(
            network->all_gather(test::sample(kind, network->process()), std::uint64_t{1} << 40) ==
            test::samples(kind, network->processes()))
            << "kind " << kind;
}

TEST(AllGather, NamesTheRankThatAnnouncesMoreBytesThanThereCanBe) {
    const auto network = test::mpi_network();
    const int last = network->processes() - 1;
    const std::string own = network->process() == last ? "four" : "one";
    EXPECT_EQ(
        test::message_of<NetworkError>([&] { (void)network->all_gather(own, 3); }).substr(0, 31),
        "rank " + std::to_string(last) + " announces 4 bytes where ");
    EXPECT_TRUE(network->failed_together());
    EXPECT_EQ(network->all_gather(own, 4).back(), "four");
}

}  // namespace
}  // namespace sotto
